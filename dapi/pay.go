package dapi

import (
	"context"
	"fmt"
	"net/http"

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
// call before, for the 7 days that the service remembers the key; later, read the payout or the ledger first. Without a key it makes a
// fresh one, which the result carries, and each error after which money may have moved.
//
// On the way it settles what needs no decision of the caller's:
//
//   - already_funded: success, the funded payout is read and returned;
//   - funding_in_progress: waits until the funding is through, as long as ctx lets it;
//   - quote_expired, funding_attempt_expired, approval_expired, approval_mismatch: books again with the same key. If the fresh quote is worse
//     than the first of this call by more than [QuoteTolerance], zero by default, it is returned as *QuoteWorsened and not confirmed;
//   - approval_consumed, and a confirm whose answer was lost: reads the payout to see whether it is funded.
//
// A payment that was funded once and failed or came back is *PayoutNotCompleted, and is not funded again.
//
// What needs one comes back as its type: *errors.ContactNotPayable with Blockers, *errors.IdempotencyKeyReused, *signing.ApprovalRefused,
// *errors.OutcomeUnknown, and the others of [Payouts.Book] and [Payouts.Confirm].
//
// Source: Errors, Slugs; Limits, Lifetimes and Idempotency.
func (s *Payouts) Pay(ctx context.Context, payout PayoutCreate, options ...moneymovement.CallOption) (*Payout, error) {
	tolerance := transport.CallOf(options).QuoteTolerance
	if err := validTolerance(tolerance); err != nil {
		return nil, err
	}
	options, key := keyed(options)
	p := &payment{payouts: s, asked: payout, key: key, tolerance: tolerance, options: options}
	return p.run(ctx)
}

// payment is one Pay under way.
type payment struct {
	payouts   *Payouts
	asked     PayoutCreate
	key       string // anchors the payment; it serves the confirm as well, whose scope is its own
	tolerance decimal.Decimal
	options   []moneymovement.CallOption // with the key
	doubt     error                      // of a confirm that may have gone through, as long as the payout could not be read since
}

// run books and confirms until the payment is through or needs its caller.
func (p *payment) run(ctx context.Context) (*Payout, error) {
	leave, err := p.payouts.line.enter(ctx, p.key)
	if err != nil {
		return nil, err
	}
	defer leave()
	booked, err := p.book(ctx)
	if err != nil {
		payout, _, err := p.settle(ctx, nil, err)
		return payout, err
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
		leave() // what follows waits for the service, not for room
		settled, reopen, err := p.settle(ctx, booked, err)
		if !reopen || reopened == maxReopen {
			return settled, err
		}
		again, bookErr := p.book(ctx)
		switch {
		case bookErr != nil:
			settled, _, err := p.settle(ctx, booked, bookErr)
			return settled, err
		case again.ID != booked.ID:
			return again, err // the key anchors another payment by now, and paying that one could pay twice
		case !acceptable(first, again.Quote, p.tolerance):
			return nil, p.doubted(&QuoteWorsened{First: valueOf(first), Fresh: valueOf(again.Quote), Payout: again})
		}
		booked = again
	}
}

// book books, and makes sure that the answer is about this payment: approving the booking of another key could pay that one twice and
// this one never.
//
// Source: Resources, Platform resources (a payout create echoes idempotencyKey).
func (p *payment) book(ctx context.Context) (*Payout, error) {
	booked, err := p.payouts.Book(ctx, p.asked, p.options...)
	switch {
	case err != nil:
		return nil, err
	case booked.IdempotencyKey != "" && booked.IdempotencyKey != p.key:
		return nil, unproven(opBookPayout.ID, p.key, "the answer is about a payment of another key")
	}
	return booked, nil
}

// settle finds out what a refusal or a lost answer means for the payment: a payout if the money moved, else the error, and whether booking
// again can help. booked is nil as long as no booking was answered.
func (p *payment) settle(ctx context.Context, booked *Payout, err error) (payout *Payout, reopen bool, _ error) {
	if refusal, ok := errors.AsType[*errors.AlreadyFunded](err); ok {
		payout, err := p.funded(ctx, booked, refusal)
		return payout, false, err
	}
	if booked == nil {
		return nil, false, err
	}
	if refusal, ok := errors.AsType[*errors.FundingInProgress](err); ok {
		return p.awaitFunding(ctx, booked, refusal)
	}
	if p.doubt != nil || doubtful(err) || windowClosed(err) {
		payout, readErr := p.read(ctx, booked.ID)
		switch {
		case readErr != nil:
			if doubtful(err) {
				p.doubt = err
			}
		case payout.Status.funded():
			return payout, false, nil
		case payout.Status == PayoutStatusFailed, payout.Status == PayoutStatusRefunded:
			return payout, false, payout.arrived() // it was funded once, and no reopening funds it again
		default:
			p.doubt = nil
		}
	}
	return nil, reopens(err), p.doubted(err)
}

// doubted adds to an error that an earlier confirm may have gone through, lest a later refusal reads as if nothing had moved: a service that
// answers a booking again as it did the first time does not tell.
func (p *payment) doubted(err error) error {
	if p.doubt == nil || doubtful(err) {
		return err
	}
	return fmt.Errorf("%w; then: %w", p.doubt, err)
}

// read reads the payout of the payment.
func (p *payment) read(ctx context.Context, id PayoutID) (*Payout, error) {
	payout, err := p.payouts.Get(ctx, id)
	if err == nil && payout.ID != id {
		return nil, &errors.UnexpectedAnswer{Operation: opGetPayout.ID, Status: http.StatusOK, Err: errors.New("it is about another payout")}
	}
	return payout, err
}

// funded reads a payout that the service says is funded. If it cannot be read, or is not the one that was booked, the refusal itself is
// returned: it knows the payout and its transaction, and says that the money moved.
func (p *payment) funded(ctx context.Context, booked *Payout, refusal *errors.AlreadyFunded) (*Payout, error) {
	id := PayoutID(refusal.PayoutID)
	if id == "" && booked != nil {
		id = booked.ID
	}
	if id == "" || booked != nil && id != booked.ID {
		return nil, refusal
	}
	payout, err := p.read(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("%w; reading the payout: %w", refusal, err)
	}
	return payout, payout.arrived()
}

// awaitFunding waits while the service funds the payout. An attempt that came to nothing until the approval's window closed is over, and the
// payout can be reopened.
func (p *payment) awaitFunding(ctx context.Context, booked *Payout, refusal error) (_ *Payout, reopen bool, _ error) {
	lapsed := func(payout *Payout) bool {
		return payout.Status == PayoutStatusExpired ||
			payout.Status == PayoutStatusAwaitingApproval && !p.payouts.approver.now().Before(booked.Approval.ExpiresAt)
	}
	payout, err := wait(ctx, nil, poll[Payout]{
		low: p.payouts.low, resource: "payout", id: string(booked.ID),
		read:   func(ctx context.Context) (*Payout, error) { return p.read(ctx, booked.ID) },
		status: func(payout *Payout) string { return string(payout.Status) },
		done: func(payout *Payout) bool {
			return payout.Status.Final() || lapsed(payout) || payout.Status.funded() && payout.Status != PayoutStatusFunding
		},
	})
	switch {
	case err != nil:
		return payout, false, fmt.Errorf("%w; waiting for it: %w", refusal, err)
	case lapsed(payout):
		return nil, true, refusal
	}
	return payout, false, payout.arrived()
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
	case errors.CodeQuoteExpired, errors.CodeFundingAttemptExpired,
		errors.CodeApprovalExpired, errors.CodeApprovalConsumed, errors.CodeApprovalMismatch: // another call with the key booked anew
		return true
	}
	return false
}

// windowClosed reports an approval that was not signed because its time was over, as in the replayed first answer of a booking,
// or whose confirm was refused for its token and had no room to be sent again in time.
func windowClosed(err error) bool {
	if undelivered, ok := errors.AsType[*errors.NotDelivered](err); ok {
		tooLong, isTooLong := errors.AsType[*transport.WaitTooLong](undelivered)
		return isTooLong && tooLong.Closed
	}
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
