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
// call before; without a key it makes a fresh one, which the result and the errors carry.
//
// On the way it settles what needs no decision of the caller's:
//
//   - already_funded: success, the funded payout is read and returned;
//   - funding_in_progress: waits until the funding is through;
//   - quote_expired, funding_attempt_expired: books again with the same key. If the fresh quote is worse than the first by more than
//     [QuoteTolerance], zero by default, it is returned as *QuoteWorsened and not confirmed;
//   - approval_consumed, and a confirm whose answer was lost: reads the payout to see whether it is funded.
//
// What needs one comes back as its type: *errors.ContactNotPayable with Blockers, *errors.IdempotencyKeyReused, *signing.ApprovalRefused,
// *errors.OutcomeUnknown, and the others of [Payouts.Book] and [Payouts.Confirm].
//
// Source: Errors, Slugs; Limits, Lifetimes and Idempotency.
func (s *Payouts) Pay(ctx context.Context, payout PayoutCreate, options ...moneymovement.CallOption) (*Payout, error) {
	call := callOf(options)
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
		return p.settle(ctx, "", err)
	}
	first := booked.Quote
	for reopened := 0; ; reopened++ {
		if booked.Status.funded() {
			return booked, nil // an earlier call with this key went through
		}
		if booked.Status.Final() {
			return booked, &PayoutNotCompleted{Payout: booked}
		}
		confirmed, err := p.payouts.Confirm(ctx, p.asked, booked, p.options...)
		if err == nil {
			return confirmed, nil
		}
		settled, err := p.settle(ctx, booked.ID, err)
		if err == nil || !reopens(err) || reopened == maxReopen {
			return settled, err
		}
		if booked, err = p.payouts.Book(ctx, p.asked, p.options...); err != nil {
			return p.settle(ctx, "", err)
		}
		if !acceptable(first, booked.Quote, p.tolerance) {
			return nil, &QuoteWorsened{First: valueOf(first), Fresh: valueOf(booked.Quote), Payout: booked}
		}
	}
}

// settle finds out what a refusal or a lost answer means for the payment: a payout if the money moved, else the error. id is empty
// as long as the booking has not answered one.
func (p *payment) settle(ctx context.Context, id PayoutID, err error) (*Payout, error) {
	if funded, ok := errors.AsType[*errors.AlreadyFunded](err); ok {
		return p.funded(ctx, id, funded)
	}
	if id == "" {
		return nil, err
	}
	if inProgress, ok := errors.AsType[*errors.FundingInProgress](err); ok {
		return p.awaitFunding(ctx, id, inProgress)
	}
	if doubtful(err) {
		if payout, readErr := p.payouts.Get(ctx, id); readErr == nil && payout.Status.funded() {
			return payout, nil
		}
	}
	return nil, err
}

// funded reads a payout that the service says is funded. If it cannot be read, the refusal itself is returned: it knows the
// payout and its transaction, and says that the money moved.
func (p *payment) funded(ctx context.Context, id PayoutID, refusal *errors.AlreadyFunded) (*Payout, error) {
	if refusal.PayoutID != "" {
		id = PayoutID(refusal.PayoutID)
	}
	payout, err := p.payouts.Get(ctx, id)
	if err != nil {
		return nil, errors.Join(refusal, err)
	}
	return payout, nil
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
	switch {
	case err != nil:
		return payout, errors.Join(refusal, err)
	case !payout.Status.funded():
		return payout, &PayoutNotCompleted{Payout: payout}
	}
	return payout, nil
}

// doubtful reports errors after which the payment may be funded all the same.
func doubtful(err error) bool {
	failure, ok := errors.AsType[errors.Failure](err)
	return ok && failure.MoneyMoved() == errors.MaybeMoved || expiredHere(err)
}

// reopens reports errors after which the same payment is booked again for a fresh quote and approval.
func reopens(err error) bool {
	refusal, ok := errors.AsType[*errors.Refusal](err)
	if !ok {
		return expiredHere(err)
	}
	switch refusal.Code {
	case errors.CodeQuoteExpired, errors.CodeFundingAttemptExpired, errors.CodeApprovalExpired, errors.CodeApprovalConsumed:
		return true
	}
	return false
}

// expiredHere reports an approval that was not signed because its window had closed, as in the replayed first answer of a booking.
func expiredHere(err error) bool {
	refused, ok := errors.AsType[*signing.ApprovalRefused](err)
	return ok && refused.Field == "expiresAt" && refused.Want == refused.Got
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
