package dapi

import (
	"context"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/transport"
	"github.com/moneymovement/moneymovement-go/signing"
)

// maxReopen bounds how often a payment whose window closed is booked again within one Pay.
const maxReopen = 3

// Pay books a payout, compares its approval with what was asked for, signs and confirms it. It answers the funded payout, which
// [Payouts.Wait] follows to its end. Calling it again with the same idempotency key and terms never pays twice, whatever happened to the
// call before; without a key it makes a fresh one, which the result carries, and each error after which money may have moved.
//
// On the way it settles what needs no decision of the caller's:
//
//   - already_funded: success, the funded payout is read and returned;
//   - funding_in_progress: waits until the funding is through;
//   - quote_expired, funding_attempt_expired: books again with the same key. If the fresh quote is worse than the first by more than
//     [QuoteTolerance], zero by default, it is returned as *QuoteWorsened and not confirmed;
//   - approval_consumed, and a confirm whose answer was lost: reads the payout to see whether it is funded.
//
// A payment that was funded once and failed or came back is *PayoutNotCompleted, and is not funded again.
//
// What needs one comes back as its type: *errors.ContactNotPayable with Blockers, *errors.IdempotencyKeyReused, *signing.ApprovalRefused,
// *errors.OutcomeUnknown, and the others of [Payouts.Book] and [Payouts.Confirm].
//
// Source: Errors, Slugs; Limits, Lifetimes and Idempotency.
func (s *Payouts) Pay(ctx context.Context, payout PayoutCreate, options ...moneymovement.CallOption) (*Payout, error) {
	call := transport.CallOf(options)
	if err := validTolerance(call.QuoteTolerance); err != nil {
		return nil, err
	}
	if !call.KeySet {
		options = append(options[:len(options):len(options)], moneymovement.IdempotencyKey(uuid.NewString()))
	}
	p := &payment{payouts: s, asked: payout, tolerance: call.QuoteTolerance, options: options}
	return p.run(ctx)
}

// payment is one Pay under way.
type payment struct {
	payouts   *Payouts
	asked     PayoutCreate
	tolerance decimal.Decimal
	options   []moneymovement.CallOption // with the key that anchors the payment; it serves the confirm as well, whose scope is its own
}

// run books and confirms until the payment is through or needs its caller.
func (p *payment) run(ctx context.Context) (*Payout, error) {
	booked, err := p.payouts.Book(ctx, p.asked, p.options...)
	if err != nil {
		return p.settle(ctx, nil, err)
	}
	first := booked.Quote
	for reopened := 0; ; reopened++ {
		if booked.Status.funded() || booked.Status.Final() {
			return booked, booked.arrived() // an earlier call with this key went through
		}
		confirmed, err := p.payouts.Confirm(ctx, p.asked, booked, p.options...)
		if err == nil {
			return confirmed, confirmed.arrived()
		}
		settled, err := p.settle(ctx, booked, err)
		if err == nil || !reopens(err) || reopened == maxReopen {
			return settled, err
		}
		again, bookErr := p.payouts.Book(ctx, p.asked, p.options...)
		switch {
		case bookErr != nil:
			return p.settle(ctx, booked, bookErr)
		case again.ID != booked.ID:
			return again, err // the key anchors another payment by now, and paying that one could pay twice
		case !acceptable(first, again.Quote, p.tolerance):
			return nil, &QuoteWorsened{First: valueOf(first), Fresh: valueOf(again.Quote), Payout: again}
		}
		booked = again
	}
}

// settle finds out what a refusal or a lost answer means for the payment: a payout if the money moved, else the error. booked is nil
// as long as no booking was answered.
func (p *payment) settle(ctx context.Context, booked *Payout, err error) (*Payout, error) {
	if refusal, ok := errors.AsType[*errors.AlreadyFunded](err); ok {
		return p.funded(ctx, booked, refusal)
	}
	if booked == nil {
		return nil, err
	}
	if refusal, ok := errors.AsType[*errors.FundingInProgress](err); ok {
		return p.awaitFunding(ctx, booked.ID, refusal)
	}
	if !doubtful(err) && !windowClosed(err) {
		return nil, err
	}
	payout, readErr := p.payouts.Get(ctx, booked.ID)
	switch {
	case readErr != nil:
		return nil, err
	case payout.Status.funded():
		return payout, nil
	case payout.Status == PayoutStatusFailed, payout.Status == PayoutStatusRefunded:
		return payout, payout.arrived() // it was funded once, and no reopening funds it again
	}
	return nil, err
}

// funded reads a payout that the service says is funded. If it cannot be read, the refusal itself is returned: it knows the
// payout and its transaction, and says that the money moved.
func (p *payment) funded(ctx context.Context, booked *Payout, refusal *errors.AlreadyFunded) (*Payout, error) {
	id := PayoutID(refusal.PayoutID)
	if id == "" && booked != nil {
		id = booked.ID
	}
	if id == "" {
		return nil, refusal
	}
	payout, err := p.payouts.Get(ctx, id)
	if err != nil {
		return nil, errors.Join(refusal, err)
	}
	return payout, payout.arrived()
}

// awaitFunding waits while the service funds the payout.
func (p *payment) awaitFunding(ctx context.Context, id PayoutID, refusal error) (*Payout, error) {
	payout, err := wait(ctx, nil, poll[Payout]{
		resource: "payout", id: string(id),
		read:   func(ctx context.Context) (*Payout, error) { return p.payouts.low.GetPayout(ctx, id, nil) },
		status: func(p *Payout) string { return string(p.Status) },
		done: func(p *Payout) bool {
			return p.Status != PayoutStatusAwaitingApproval && p.Status != PayoutStatusFunding
		},
	})
	if err != nil {
		return payout, errors.Join(refusal, err)
	}
	return payout, payout.arrived()
}

// doubtful reports errors after which the payment may be funded all the same.
func doubtful(err error) bool {
	failure, ok := errors.AsType[errors.Failure](err)
	return ok && failure.MoneyMoved() == errors.MaybeMoved
}

// reopens reports errors after which the same payment is booked again for a fresh quote and approval.
func reopens(err error) bool {
	refusal, ok := errors.AsType[*errors.Refusal](err)
	if !ok {
		return windowClosed(err)
	}
	switch refusal.Code {
	case errors.CodeQuoteExpired, errors.CodeFundingAttemptExpired, errors.CodeApprovalExpired, errors.CodeApprovalConsumed:
		return true
	}
	return false
}

// windowClosed reports an approval that was not signed because its time was over, as in the replayed first answer of a booking.
func windowClosed(err error) bool {
	refused, ok := errors.AsType[*signing.ApprovalRefused](err)
	return ok && refused.Expired
}

func validTolerance(fraction decimal.Decimal) error {
	return transport.Validate("Pay", func(c *transport.Check) {
		if fraction.IsNegative() || fraction.GreaterThanOrEqual(decimal.NewFromInt(1)) {
			c.Refuse("QuoteTolerance", "out_of_range", "must be a fraction from 0 to less than 1")
		}
	})
}

func valueOf(q *Quote) Quote {
	if q == nil {
		return Quote{}
	}
	return *q
}
