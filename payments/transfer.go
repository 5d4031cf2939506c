package payments

import (
	"context"
	"strings"

	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/appapi"
	"github.com/moneymovement/moneymovement-go/errors"
)

// transfer sends a transfer. If it stays in doubt, the list of transfers can show that it was made.
func (s *progress) transfer(ctx context.Context) found {
	receipt, err := s.p.services.transfers.Send(ctx, s.record.Transfer.destination(), s.record.Key)
	f := called(err, s.inDoubt, false)
	if receipt != nil {
		f.hash = receipt.TxHash
	}
	if f.verdict == verdictWait && s.refusedForGood(err) {
		f.verdict = verdictRefused
	}
	if f.verdict != verdictUnknown {
		return f
	}
	listed := s.searchTransfer(ctx)
	f.retryAt = later(f.retryAt, listed.retryAt) // the next call is followed by a look, too
	switch {
	case listed.verdict != verdictUnknown:
		return listed
	case listed.reason == nil && s.refusedForGood(err):
		f.verdict = verdictDecide // nothing shows the transfer, and another call would be refused as well
	}
	return f
}

// refusedForGood reports that the service refuses the payment itself, for a reason that does not pass by itself.
func (s *progress) refusedForGood(err error) bool {
	failure, typed := errors.AsType[errors.Failure](err)
	refusal, refused := errors.AsType[*errors.Refusal](err)
	if !typed || !refused || failure.MovedByCall() != errors.NotMoved {
		return false
	}
	if refusal.Code == errors.CodeQuoteExpired {
		return s.record.Transfer != nil && s.record.Transfer.QuoteID != "" // which has no other price
	}
	verdict := unpaid(err)
	return verdict == verdictRefused || verdict == verdictDecide
}

// searchTransfer looks for a transfer by its key. A transfer with other terms is another payment: a key has one.
func (s *progress) searchTransfer(ctx context.Context) found {
	sent, listed, err := s.p.services.transfers.ByKey(ctx, s.record.Key)
	switch {
	case err != nil:
		return failedSearch(err)
	case listed && !s.record.Transfer.is(sent):
		return found{verdict: verdictDecide, mayHaveLeft: true, reason: &Reason{Code: ReasonKeyReused, Owner: sent.ID,
			Message: "the service lists a transfer with this key and other terms: compare them, then decide"}}
	case listed:
		return found{verdict: verdictCompleted, mayHaveLeft: true, hash: sent.TxHash}
	}
	return found{verdict: verdictUnknown, mayHaveLeft: true}
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
