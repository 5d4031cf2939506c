package payments

import (
	"context"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
)

// follow reads how a paid payout goes on.
func (s *progress) follow(ctx context.Context) found {
	r := &s.record
	if r.PayoutID != "" {
		payout, err := s.p.services.of(r).payouts.Get(ctx, r.PayoutID)
		if r.decided() && isOther(r, payout, err) {
			return found{verdict: verdictDecide, mayHaveLeft: true, wrong: true, reason: &Reason{Code: ReasonTerms,
				Message: "a person named payout " + string(r.PayoutID) + ", which is not there or has other terms: " +
					"look at the service's books, then decide again"}}
		}
		return s.seen(payout, err)
	}
	if r.keyAge(time.Now()) > keyLifetime { // another call could pay a second time
		return found{verdict: verdictDecide, mayHaveLeft: true, reason: &Reason{Code: ReasonKeyTooOld,
			Message: "the service said that the payment is paid, and did not name the payout while it remembered " +
				"the key: look at the service's books, then decide WasPaid with the payout's id"}}
	}
	// The service said that the payment is paid, and did not name the payout. The same call returns it.
	switch f := s.pay(ctx); f.verdict {
	case verdictPaid, verdictCompleted, verdictReturned:
		return f
	}
	return found{verdict: verdictPending, mayHaveLeft: true}
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
	pending := found{verdict: verdictPending, mayHaveLeft: true, retryAt: retryAt(err)}
	if err != nil || payout.ID != s.record.PayoutID {
		return pending
	}
	switch f := paid(payout, nil); f.verdict {
	case verdictCompleted, verdictReturned:
		return f
	case verdictEnded: // the payment was paid, and the service says that it never was
		f.verdict, f.reason = verdictReturned, &Reason{Code: ReasonReturned,
			Message: "the payout is " + string(payout.Status) +
				", although it was paid before: look at the ledger"}
		return f
	}
	pending.hash = payout.TransactionHash
	return pending
}

// search looks for a payment in doubt whose key the service may have forgotten: another call could pay twice. It looks
// at the payout, the deal or the transfer itself, and then at the ledger. If neither shows the payment, a person must
// look.
func (s *progress) search(ctx context.Context) found {
	var f found
	switch s.record.Kind {
	case KindTransfer:
		f = s.searchTransfer(ctx)
	case KindPayout:
		f = s.searchPayout(ctx)
	default:
		f = s.searchDeal(ctx)
	}
	if f.verdict == verdictUnknown && f.reason == nil {
		return forgotten(f)
	}
	return f
}

// forgotten returns what is known of a payment in doubt whose key is too old and that nothing shows.
func forgotten(f found) found {
	f.verdict, f.reason = verdictDecide, &Reason{Code: ReasonKeyTooOld,
		Message: "the key is older than the 7 days in which the service remembers it, and neither the service " +
			"nor the ledger shows whether the payment was made: look at the service's books, then decide"}
	return f
}

func (s *progress) searchPayout(ctx context.Context) found {
	r := &s.record
	if r.PayoutID == "" { // an earlier program used the key, and did not store the payout
		return found{verdict: verdictUnknown, mayHaveLeft: true}
	}
	payout, err := s.p.services.of(r).payouts.Get(ctx, r.PayoutID)
	if _, missing := errors.AsType[*errors.NotFound](err); err != nil && !missing {
		return failedSearch(err)
	}
	if err == nil && payout.ID == r.PayoutID {
		// What a status of tomorrow means, only the ledger says.
		known := payout.Status.Known() || payout.TransactionHash != ""
		if f := paid(payout, nil); known && f.verdict != verdictUnknown {
			return f
		}
	}
	return s.searchLedger(ctx, func(entry dapi.Transaction) bool {
		return entry.Type == dapi.TransactionTypePayout && entry.PayoutID == r.PayoutID
	})
}

// searchLedger reads the ledger from the first use of the key on.
func (s *progress) searchLedger(ctx context.Context, matches func(dapi.Transaction) bool) found {
	since := s.record.FirstUsed.Add(-clockMargin)
	ledger := s.p.services.of(&s.record).transactions
	for entry, err := range ledger.All(ctx, dapi.ListTransactionsParams{Since: since, Limit: 100}) {
		if err != nil {
			return failedSearch(err)
		}
		if !matches(entry) {
			continue
		}
		f := found{verdict: verdictPaid, mayHaveLeft: true, payoutID: entry.PayoutID, escrowID: entry.EscrowID,
			hash: entry.TransactionHash}
		switch {
		case entry.Status == dapi.TransactionStatusFailed:
			f.verdict = verdictReturned
			f.reason = &Reason{Code: ReasonReturned, Message: "the entry of the ledger has failed: the money came back"}
		case s.record.Kind != KindPayout:
			f.verdict = verdictCompleted
		}
		return f
	}
	return found{verdict: verdictUnknown, mayHaveLeft: true}
}

// clockMargin covers clocks that differ.
const clockMargin = time.Hour

// failedSearch returns what a search shows that could not read: nothing. It is repeated.
func failedSearch(err error) found {
	f := found{verdict: verdictUnknown, mayHaveLeft: true, reason: reasonOf(err), retryAt: retryAt(err), unread: true}
	f.reason.Code = ReasonUnknown
	return f
}
