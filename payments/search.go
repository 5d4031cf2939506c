package payments

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/appapi"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
)

// follow reads how a paid payout goes on.
func (s *progress) follow(ctx context.Context) callResult {
	r := &s.record
	if r.PayoutID != "" {
		payout, err := s.p.services.accountOf(r).payouts.Get(ctx, r.PayoutID)
		if r.decided() && isOtherPayment(r, payout, err) {
			return callResult{state: moneymovement.PaymentNeedsDecision, mayHaveLeft: true, wrongPayout: true,
				reason: &Reason{Code: ReasonTerms, Message: "a person named payout " + string(r.PayoutID) +
					", which is not there or has other terms: look at the service's books, then decide again"}}
		}
		return s.followResult(payout, err)
	}
	if r.keyAge(s.p.config.Now()) > keyLifetime { // another call could pay a second time
		return callResult{state: moneymovement.PaymentNeedsDecision, mayHaveLeft: true, reason: &Reason{
			Code: ReasonKeyTooOld,
			Message: "the service said that the payment is paid, and did not name the payout while it remembered " +
				"the key: look at the service's books, then decide WasPaid with the payout's id"}}
	}
	if r.edited() {
		return editedResult(true)
	}
	// The service said that the payment is paid, and did not name the payout. The same call returns it.
	switch result := s.pay(ctx); result.state {
	case moneymovement.PaymentPaid, moneymovement.PaymentCompleted, moneymovement.PaymentCameBack:
		return result
	}
	return callResult{state: moneymovement.PaymentPaid, mayHaveLeft: true, unchanged: true}
}

// decided reports that a person decided, and that nothing was seen of the payment since.
func (r *Record) decided() bool { return r.Reason != nil && r.Reason.Code == ReasonDecided }

// isOtherPayment reports that a payout is not there, or is not what the payment asked for. A read that fails in another
// way says nothing.
func isOtherPayment(r *Record, payout *dapi.Payout, err error) bool {
	if err != nil {
		_, missing := errors.AsType[*errors.NotFound](err)
		_, malformed := errors.AsType[*errors.InvalidInput](err)
		return missing || malformed
	}
	asked := r.Payout
	contact := func(id dapi.ContactID) string { return strings.TrimPrefix(string(id), "ct_") }
	return payout.Currency != "" && !strings.EqualFold(string(payout.Currency), string(asked.Currency)) ||
		payout.ContactID != "" && contact(payout.ContactID) != contact(asked.ContactID) ||
		payout.Amount != (decimal.Decimal{}) && !payout.Amount.Equal(asked.Amount)
}

// followResult is the result of a read of a paid payout. A read that fails says nothing about the payment.
func (s *progress) followResult(payout *dapi.Payout, err error) callResult {
	unchanged := callResult{state: moneymovement.PaymentPaid, mayHaveLeft: true, retryAt: retryAt(err), unchanged: true}
	if err != nil || payout.ID != s.record.PayoutID {
		return unchanged
	}
	result := payoutResult(payout)
	switch result.state {
	case moneymovement.PaymentCompleted, moneymovement.PaymentCameBack:
		return result
	case moneymovement.PaymentRefused: // the payment was paid, and the service says that it never was
		result.state, result.mayHaveLeft = moneymovement.PaymentCameBack, true
		result.reason = &Reason{Code: ReasonReturned,
			Message: "the payout is " + string(payout.Status) + ", although it was paid before: look at the ledger"}
		return result
	}
	unchanged.transactionHash = payout.TransactionHash
	return unchanged
}

// searchInDoubt searches for a payment in doubt whose key the service may have forgotten: another call could pay twice.
// If the payment is not found, a person must decide.
func (s *progress) searchInDoubt(ctx context.Context) callResult {
	if result := s.searchByKind(ctx); result.state != moneymovement.PaymentInDoubt || result.reason != nil {
		return result
	}
	return keyForgottenResult(callResult{mayHaveLeft: true})
}

// searchBeforePaying searches for a payment whose record can be of an older copy of the store. known is true if the
// payment is there, or if that cannot be read now: it is then not paid.
func (s *progress) searchBeforePaying(ctx context.Context) (result callResult, known bool) {
	switch result = s.searchByKind(ctx); result.state {
	case moneymovement.PaymentPaid, moneymovement.PaymentCompleted, moneymovement.PaymentCameBack,
		moneymovement.PaymentNeedsDecision:
		if !s.inDoubt {
			s.p.config.Logger.LogAttrs(ctx, slog.LevelWarn, "payments: a payment was made of which nothing had left "+
				"by its record: the store is older than the service's books, so reconcile the account",
				slog.String("key", string(s.record.Key)), slog.String("account", string(s.record.Account)))
		}
		return result, true
	}
	result.mayHaveLeft = s.inDoubt
	return result, result.readFailed
}

// searchByKind searches for a payment without its key: it reads the payout, the escrow or the transfer itself, and then
// the ledger.
func (s *progress) searchByKind(ctx context.Context) callResult {
	switch s.record.Kind {
	case KindTransfer:
		return s.searchTransfer(ctx)
	case KindPayout:
		return s.searchPayout(ctx)
	default:
		return s.searchEscrow(ctx)
	}
}

// keyForgottenResult is the result for a payment in doubt whose key is too old and that was not found.
func keyForgottenResult(result callResult) callResult {
	result.state, result.reason = moneymovement.PaymentNeedsDecision, &Reason{Code: ReasonKeyTooOld,
		Message: "the key is older than the 7 days in which the service remembers it, and neither the service " +
			"nor the ledger shows whether the payment was made: look at the service's books, then decide"}
	return result
}

func (s *progress) searchPayout(ctx context.Context) callResult {
	r, payouts := &s.record, s.p.services.accountOf(&s.record).payouts
	otherwise := callResult{state: moneymovement.PaymentInDoubt, mayHaveLeft: true}
	if r.PayoutID != "" {
		payout, err := payouts.Get(ctx, r.PayoutID)
		if err != nil && !isNotFound(err) {
			return searchFailed(err)
		}
		if err == nil && payout.ID == r.PayoutID {
			switch result := payoutResult(payout); result.state { // only the ledger says what an unknown status means
			case moneymovement.PaymentRefused:
				otherwise = result
			case moneymovement.PaymentInDoubt:
			default:
				return result
			}
		}
	}
	result := s.searchLedger(ctx, func(entry dapi.Transaction) (bool, error) {
		switch {
		case entry.Type == dapi.TransactionTypeRefund || entry.PayoutID == "":
			return false, nil
		case entry.PayoutID == r.PayoutID:
			return true, nil
		case !r.couldMatch(&entry):
			return false, nil
		}
		payout, err := payouts.Get(ctx, entry.PayoutID)
		if err != nil || isOtherPayment(r, payout, nil) {
			return false, err
		}
		return r.hasKey(payout.IdempotencyKey)
	})
	if result.state == moneymovement.PaymentInDoubt && result.reason == nil {
		return otherwise
	}
	return result
}

func (s *progress) searchEscrow(ctx context.Context) callResult {
	r, escrows := &s.record, s.p.services.accountOf(&s.record).escrows
	otherwise := callResult{state: moneymovement.PaymentInDoubt, mayHaveLeft: true}
	if r.EscrowID != "" {
		escrow, err := escrows.Sync(ctx, r.EscrowID)
		if err != nil && !isNotFound(err) {
			return searchFailed(err)
		}
		if err == nil && escrow.ID == r.EscrowID {
			switch result := escrowResult(r, escrow).withEscrow(escrow); {
			case result.state == moneymovement.PaymentRefused:
				otherwise = result
			case result.state != moneymovement.PaymentInDoubt:
				return result
			}
		}
	}
	if r.Kind == KindEscrowAction { // an entry of the escrow does not say which action it is of
		return otherwise
	}
	result := s.searchLedger(ctx, func(entry dapi.Transaction) (bool, error) {
		switch {
		case entry.EscrowID == "":
			return false, nil
		case entry.EscrowID == r.EscrowID:
			return true, nil
		case !r.couldMatch(&entry):
			return false, nil
		}
		escrow, err := escrows.Sync(ctx, entry.EscrowID)
		if err != nil || !escrow.Amount.IsZero() && !escrow.Amount.Equal(r.Escrow.Amount) {
			return false, err
		}
		return r.hasKey(escrow.IdempotencyKey)
	})
	if result.state == moneymovement.PaymentInDoubt && result.reason == nil {
		return otherwise
	}
	return result
}

// searchTransfer searches for a transfer by its key. A transfer with other terms is another payment: a key has one.
func (s *progress) searchTransfer(ctx context.Context) callResult {
	var response moneymovement.Response
	sent, listed, err := s.p.services.transfers.ByKey(ctx, s.record.Key, moneymovement.CaptureResponse(&response))
	s.serviceTime, _ = http.ParseTime(response.Header.Get("Date")) // zero without one
	switch {
	case err != nil:
		return searchFailed(err)
	case listed && !s.record.Transfer.matches(sent):
		return callResult{state: moneymovement.PaymentNeedsDecision, mayHaveLeft: true, reason: &Reason{
			Code: ReasonKeyReused, Owner: sent.ID,
			Message: "the service lists a transfer with this key and other terms: compare them, then decide"}}
	case listed:
		return callResult{state: moneymovement.PaymentCompleted, mayHaveLeft: true, transactionHash: sent.TxHash}
	}
	return callResult{state: moneymovement.PaymentInDoubt, mayHaveLeft: true}
}

// matches reports that a listed transfer can be this one. The list may leave out any of its terms.
func (t *Transfer) matches(sent *appapi.Transfer) bool {
	same := func(asked, listed string) bool {
		listed = strings.TrimPrefix(listed, "ct_")
		return asked == "" || listed == "" || strings.EqualFold(strings.TrimPrefix(asked, "ct_"), listed)
	}
	amount := sent.Amount.Decimal
	return same(t.ContactID, sent.ContactID) && same(t.QuoteID, sent.QuoteID) && same(t.InvoiceID, sent.InvoiceID) &&
		(t.ContactID == "" || amount == (decimal.Decimal{}) || amount.Equal(t.Amount))
}

// isNotFound reports that the service does not have what was asked for.
func isNotFound(err error) bool {
	_, is := errors.AsType[*errors.NotFound](err)
	return is
}

// couldMatch reports an entry that can be of a payment: of its asset, and of its amount or more. The description does
// not say whether a fee is in the amount.
func (r *Record) couldMatch(entry *dapi.Transaction) bool {
	wanted, asset := r.amount()
	return wanted != nil && !entry.Amount.LessThan(*wanted) &&
		(entry.Currency == "" || strings.EqualFold(string(entry.Currency), string(asset)))
}

// hasKey reports that the key of a payout or escrow with the same terms is that of the payment.
func (r *Record) hasKey(key string) (bool, error) {
	if key == "" {
		return false, errNoKey
	}
	return key == string(r.Key), nil
}

var errNoKey = errors.New("the ledger has a payment with the same terms that does not say its key, so it can be " +
	"this one: look at the service's books, then decide")

// searchLedger reads the ledger from the time on from which the payment can have been made. The ledger does not say
// keys, so matches can read what an entry is of.
func (s *progress) searchLedger(
	ctx context.Context, matches func(dapi.Transaction) (bool, error),
) callResult {
	since := s.record.AcceptedAt
	if used := s.record.FirstUsed; !used.IsZero() {
		since = earlier(since, used)
	}
	ledger := s.p.services.accountOf(&s.record).transactions
	params := dapi.ListTransactionsParams{Since: since.Add(-clockMargin), Limit: 100}
	var page moneymovement.Response
	for entry, err := range ledger.All(ctx, params, moneymovement.CaptureResponse(&page)) {
		if err != nil {
			return searchFailed(err)
		}
		is, err := matches(entry)
		if errors.Is(err, errNoKey) {
			return callResult{state: moneymovement.PaymentNeedsDecision, mayHaveLeft: true,
				reason: &Reason{Code: ReasonInDoubt, Message: errNoKey.Error()}}
		}
		if err != nil { // also if it is missing, although the ledger has it
			return searchFailed(err)
		}
		if !is {
			continue
		}
		result := callResult{state: moneymovement.PaymentPaid, mayHaveLeft: true, payoutID: entry.PayoutID,
			escrowID: entry.EscrowID, transactionHash: entry.TransactionHash}
		switch {
		case entry.Status == dapi.TransactionStatusFailed:
			result.state = moneymovement.PaymentCameBack
			result.reason = &Reason{Code: ReasonReturned,
				Message: "the entry of the ledger has failed: the money came back"}
		case s.record.Kind != KindPayout:
			result.state = moneymovement.PaymentCompleted
		}
		return result
	}
	// The last page proves that the payment was not made, but only if the service has sent it. A proxy can send an
	// empty list as well.
	if page.Status != http.StatusOK || string(bytes.TrimSpace(page.Body)) == "[]" {
		return searchFailed(&errors.UnexpectedResponse{
			CallInfo: errors.CallInfo{Operation: "ListTransactions", Account: string(s.record.Account)},
			Status:   page.Status, Err: errors.New("it has no entry, and is not as the service lists none")})
	}
	return callResult{state: moneymovement.PaymentInDoubt, mayHaveLeft: true}
}

// clockMargin covers clocks that differ.
const clockMargin = time.Hour

// searchFailed is the result of a search that could not read. The search is repeated.
func searchFailed(err error) callResult {
	result := callResult{state: moneymovement.PaymentInDoubt, mayHaveLeft: true, readFailed: true,
		reason: reasonOf(err), retryAt: retryAt(err)}
	result.reason.Code = ReasonInDoubt
	return result
}
