package payments

import (
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
func (s *progress) follow(ctx context.Context) found {
	r := &s.record
	if r.PayoutID != "" {
		payout, err := s.p.services.of(r).payouts.Get(ctx, r.PayoutID)
		if r.decided() && isOther(r, payout, err) {
			return found{state: moneymovement.PaymentNeedsDecision, mayHaveLeft: true, wrong: true, reason: &Reason{
				Code: ReasonTerms,
				Message: "a person named payout " + string(r.PayoutID) + ", which is not there or has other terms: " +
					"look at the service's books, then decide again"}}
		}
		return s.seen(payout, err)
	}
	if r.keyAge(s.p.config.Now()) > keyLifetime { // another call could pay a second time
		return found{state: moneymovement.PaymentNeedsDecision, mayHaveLeft: true, reason: &Reason{
			Code: ReasonKeyTooOld,
			Message: "the service said that the payment is paid, and did not name the payout while it remembered " +
				"the key: look at the service's books, then decide WasPaid with the payout's id"}}
	}
	if r.edited() {
		return editedRow(true)
	}
	// The service said that the payment is paid, and did not name the payout. The same call returns it.
	switch f := s.pay(ctx); f.state {
	case moneymovement.PaymentPaid, moneymovement.PaymentCompleted, moneymovement.PaymentCameBack:
		return f
	}
	return found{state: moneymovement.PaymentPaid, mayHaveLeft: true, same: true}
}

// decided reports that a person decided, and that nothing was seen of the payment since.
func (r *Record) decided() bool { return r.Reason != nil && r.Reason.Code == ReasonDecided }

// isOther reports that a payout is not there, or is not what the payment asked for. A read that fails in another way
// says nothing.
func isOther(r *Record, payout *dapi.Payout, err error) bool {
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

// seen returns what a read of a paid payout shows. A read that fails says nothing about the payment.
func (s *progress) seen(payout *dapi.Payout, err error) found {
	same := found{state: moneymovement.PaymentPaid, mayHaveLeft: true, retryAt: retryAt(err), same: true}
	if err != nil || payout.ID != s.record.PayoutID {
		return same
	}
	f := payoutShows(payout)
	switch f.state {
	case moneymovement.PaymentCompleted, moneymovement.PaymentCameBack:
		return f
	case moneymovement.PaymentRefused: // the payment was paid, and the service says that it never was
		f.state, f.mayHaveLeft, f.reason = moneymovement.PaymentCameBack, true, &Reason{Code: ReasonReturned,
			Message: "the payout is " + string(payout.Status) +
				", although it was paid before: look at the ledger"}
		return f
	}
	same.hash = payout.TransactionHash
	return same
}

// search looks for a payment in doubt whose key the service may have forgotten: another call could pay twice. If
// nothing shows the payment, a person must look.
func (s *progress) search(ctx context.Context) found {
	if f := s.look(ctx); f.state != moneymovement.PaymentInDoubt || f.reason != nil {
		return f
	}
	return forgotten(found{mayHaveLeft: true})
}

// find looks for a payment whose record can be of an older copy of the store. It returns true if the payment is there,
// or if that cannot be read now.
func (s *progress) find(ctx context.Context) (f found, shown bool) {
	switch f = s.look(ctx); f.state {
	case moneymovement.PaymentPaid, moneymovement.PaymentCompleted, moneymovement.PaymentCameBack,
		moneymovement.PaymentNeedsDecision:
		if !s.inDoubt {
			s.p.config.Logger.LogAttrs(ctx, slog.LevelWarn, "payments: a payment was made of which nothing had left "+
				"by its record: the store is older than the service's books, so reconcile the account",
				slog.String("key", string(s.record.Key)), slog.String("account", string(s.record.Account)))
		}
		return f, true
	}
	f.mayHaveLeft = s.inDoubt
	return f, f.unread
}

// look looks for a payment without its key: at the payout, the deal or the transfer itself, and then at the ledger.
func (s *progress) look(ctx context.Context) found {
	switch s.record.Kind {
	case KindTransfer:
		return s.searchTransfer(ctx)
	case KindPayout:
		return s.searchPayout(ctx)
	default:
		return s.searchDeal(ctx)
	}
}

// forgotten returns what is known of a payment in doubt whose key is too old and that nothing shows.
func forgotten(f found) found {
	f.state, f.reason = moneymovement.PaymentNeedsDecision, &Reason{Code: ReasonKeyTooOld,
		Message: "the key is older than the 7 days in which the service remembers it, and neither the service " +
			"nor the ledger shows whether the payment was made: look at the service's books, then decide"}
	return f
}

func (s *progress) searchPayout(ctx context.Context) found {
	r, payouts := &s.record, s.p.services.of(&s.record).payouts
	ended := found{state: moneymovement.PaymentInDoubt, mayHaveLeft: true}
	if r.PayoutID != "" {
		payout, err := payouts.Get(ctx, r.PayoutID)
		if err != nil && !missing(err) {
			return failedSearch(err)
		}
		if err == nil && payout.ID == r.PayoutID {
			switch f := payoutShows(payout); f.state { // what an unknown status means, only the ledger says
			case moneymovement.PaymentRefused:
				ended = f
			case moneymovement.PaymentInDoubt:
			default:
				return f
			}
		}
	}
	f := s.searchLedger(ctx, func(entry dapi.Transaction) (bool, error) {
		switch {
		case entry.Type == dapi.TransactionTypeRefund || entry.PayoutID == "":
			return false, nil
		case entry.PayoutID == r.PayoutID:
			return true, nil
		case !r.coveredBy(&entry):
			return false, nil
		}
		payout, err := payouts.Get(ctx, entry.PayoutID)
		if err != nil || isOther(r, payout, nil) {
			return false, err
		}
		return r.hasKey(payout.IdempotencyKey)
	})
	if f.state == moneymovement.PaymentInDoubt && f.reason == nil {
		return ended
	}
	return f
}

func (s *progress) searchDeal(ctx context.Context) found {
	r, escrows := &s.record, s.p.services.of(&s.record).escrows
	ended := found{state: moneymovement.PaymentInDoubt, mayHaveLeft: true}
	if r.EscrowID != "" {
		deal, err := escrows.Sync(ctx, r.EscrowID)
		if err != nil && !missing(err) {
			return failedSearch(err)
		}
		if err == nil && deal.ID == r.EscrowID {
			switch f := dealShows(r, deal).ofDeal(deal); {
			case f.state == moneymovement.PaymentRefused:
				ended = f
			case f.state != moneymovement.PaymentInDoubt:
				return f
			}
		}
	}
	if r.Kind == KindEscrowAction { // an entry of the deal does not say which action it is of
		return ended
	}
	f := s.searchLedger(ctx, func(entry dapi.Transaction) (bool, error) {
		switch {
		case entry.EscrowID == "":
			return false, nil
		case entry.EscrowID == r.EscrowID:
			return true, nil
		case !r.coveredBy(&entry):
			return false, nil
		}
		deal, err := escrows.Sync(ctx, entry.EscrowID)
		if err != nil || !deal.Amount.IsZero() && !deal.Amount.Equal(r.Escrow.Amount) {
			return false, err
		}
		return r.hasKey(deal.IdempotencyKey)
	})
	if f.state == moneymovement.PaymentInDoubt && f.reason == nil {
		return ended
	}
	return f
}

// searchTransfer looks for a transfer by its key. A transfer with other terms is another payment: a key has one.
func (s *progress) searchTransfer(ctx context.Context) found {
	var response moneymovement.Response
	sent, listed, err := s.p.services.transfers.ByKey(ctx, s.record.Key, moneymovement.CaptureResponse(&response))
	s.serviceTime, _ = http.ParseTime(response.Header.Get("Date")) // zero without one
	switch {
	case err != nil:
		return failedSearch(err)
	case listed && !s.record.Transfer.is(sent):
		return found{state: moneymovement.PaymentNeedsDecision, mayHaveLeft: true, reason: &Reason{
			Code: ReasonKeyReused, Owner: sent.ID,
			Message: "the service lists a transfer with this key and other terms: compare them, then decide"}}
	case listed:
		return found{state: moneymovement.PaymentCompleted, mayHaveLeft: true, hash: sent.TxHash}
	}
	return found{state: moneymovement.PaymentInDoubt, mayHaveLeft: true}
}

// is reports that a listed transfer can be this one. The list may leave out any of its terms.
func (t *Transfer) is(sent *appapi.Transfer) bool {
	same := func(asked, listed string) bool {
		listed = strings.TrimPrefix(listed, "ct_")
		return asked == "" || listed == "" || strings.EqualFold(strings.TrimPrefix(asked, "ct_"), listed)
	}
	amount := sent.Amount.Decimal
	return same(t.ContactID, sent.ContactID) && same(t.QuoteID, sent.QuoteID) && same(t.InvoiceID, sent.InvoiceID) &&
		(t.ContactID == "" || amount == (decimal.Decimal{}) || amount.Equal(t.Amount))
}

// missing reports that the service does not have what was asked for.
func missing(err error) bool {
	_, is := errors.AsType[*errors.NotFound](err)
	return is
}

// coveredBy reports an entry that can be of a payment: of its asset, and of its amount or more. The description does
// not say whether a fee is in the amount.
func (r *Record) coveredBy(entry *dapi.Transaction) bool {
	wanted, asset := r.amount()
	return wanted != nil && !entry.Amount.LessThan(*wanted) &&
		(entry.Currency == "" || strings.EqualFold(string(entry.Currency), string(asset)))
}

// hasKey reports that the key of a payout or deal with the same terms is that of the payment.
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
) found {
	since := s.record.AcceptedAt
	if used := s.record.FirstUsed; !used.IsZero() {
		since = earlier(since, used)
	}
	ledger := s.p.services.of(&s.record).transactions
	params := dapi.ListTransactionsParams{Since: since.Add(-clockMargin), Limit: 100}
	for entry, err := range ledger.All(ctx, params) {
		if err != nil {
			return failedSearch(err)
		}
		is, err := matches(entry)
		if errors.Is(err, errNoKey) {
			return found{state: moneymovement.PaymentNeedsDecision, mayHaveLeft: true,
				reason: &Reason{Code: ReasonInDoubt, Message: errNoKey.Error()}}
		}
		if err != nil { // also if it is missing, although the ledger has it
			return failedSearch(err)
		}
		if !is {
			continue
		}
		f := found{state: moneymovement.PaymentPaid, mayHaveLeft: true, payoutID: entry.PayoutID,
			escrowID: entry.EscrowID, hash: entry.TransactionHash}
		switch {
		case entry.Status == dapi.TransactionStatusFailed:
			f.state = moneymovement.PaymentCameBack
			f.reason = &Reason{Code: ReasonReturned, Message: "the entry of the ledger has failed: the money came back"}
		case s.record.Kind != KindPayout:
			f.state = moneymovement.PaymentCompleted
		}
		return f
	}
	return found{state: moneymovement.PaymentInDoubt, mayHaveLeft: true}
}

// clockMargin covers clocks that differ.
const clockMargin = time.Hour

// failedSearch returns what a search shows that could not read: nothing. It is repeated.
func failedSearch(err error) found {
	f := found{state: moneymovement.PaymentInDoubt, mayHaveLeft: true, unread: true, reason: reasonOf(err),
		retryAt: retryAt(err)}
	f.reason.Code = ReasonInDoubt
	return f
}
