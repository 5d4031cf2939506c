package payments

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/appapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/outcome"
)

// transfer sends a transfer. One in doubt is looked up first: the service may have forgotten its key. It is sent again
// if nothing shows it and a person has decided so.
func (s *progress) transfer(ctx context.Context) found {
	if s.inDoubt {
		f := s.searchTransfer(ctx)
		switch {
		case f.state != moneymovement.PaymentInDoubt || f.unread:
			return f
		case s.serviceTime.Sub(s.record.FirstUsed) > keyLifetime:
			return forgotten(f)
		case !s.record.decided():
			if s.p.config.Now().Sub(s.record.FirstUsed) > transferSettles {
				f.state = moneymovement.PaymentNeedsDecision
			}
			f.reason = &Reason{Code: ReasonInDoubt, Message: "the response to the transfer was lost, and the " +
				"service does not list the transfer: look at the service's books, then decide; Retry sends it " +
				"again with the same key"}
			return f
		}
	}
	receipt, err := s.p.services.transfers.Send(ctx, s.record.Transfer.destination(), s.record.Key)
	f := transferShows(err, s.inDoubt)
	if receipt != nil {
		f.hash = receipt.TxHash
	}
	if f.state == moneymovement.PaymentNotPaid && s.refusedForGood(err) {
		f.state = moneymovement.PaymentRefused
	}
	if f.state != moneymovement.PaymentInDoubt {
		return f
	}
	listed := s.searchTransfer(ctx)
	f.retryAt = later(f.retryAt, listed.retryAt) // the next step is a look, too
	switch {
	case listed.state != moneymovement.PaymentInDoubt:
		return listed
	case listed.reason == nil && s.refusedForGood(err):
		// nothing shows the transfer, and another call would be refused as well
		f.state = moneymovement.PaymentNeedsDecision
	}
	return f
}

// transferSettles is how long a request whose response was lost can be under way. After that, a transfer that is not
// listed was not made, as far as the service shows.
const transferSettles = 10 * time.Minute

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
	next := outcome.After(err)
	return next == outcome.Decide || next == outcome.Change || next == outcome.NewKey
}

// transferShows returns what a call shows that pays at once. before reports that an earlier call may have paid, which a
// refusal does not change.
func transferShows(err error, before bool) found {
	f := found{state: moneymovement.PaymentInDoubt, mayHaveLeft: true, reason: reasonOf(err), retryAt: retryAt(err)}
	failure, typed := errors.AsType[errors.Failure](err)
	_, unknown := errors.AsType[*errors.InDoubt](err)
	switch {
	case err == nil:
		f.state = moneymovement.PaymentCompleted
	case typed && failure.MovedByCall() == errors.Moved:
		f.state, f.reason = moneymovement.PaymentCompleted, nil
	case unknown, !typed, failure.MovedByCall() != errors.NotMoved, before:
	default:
		f.state, f.mayHaveLeft = moneymovement.PaymentNotPaid, outcome.After(err) == outcome.NewKey
		f.refuse(err)
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
