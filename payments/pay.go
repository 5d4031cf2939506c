package payments

import (
	"context"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
)

// pay makes the call that pays, and returns what it shows. The begun call is stored.
func (s *progress) pay(ctx context.Context) found {
	switch r := &s.record; r.Kind {
	case KindEscrow:
		return s.open(ctx)
	case KindEscrowAction:
		return s.act(ctx)
	case KindTransfer:
		return s.transfer(ctx)
	default:
		return s.payOut(ctx)
	}
}

// payOut makes a payout. Before it signs, it stores that money may leave: a process that has lost its lease then signs
// nothing.
func (s *progress) payOut(ctx context.Context) found {
	r := &s.record
	var response moneymovement.Response
	signs := false
	var doubted dapi.PayoutID // which an earlier call may have paid
	if s.inDoubt {
		doubted = r.PayoutID
	}
	options := append(r.Bounds.options(), dapi.BookedBefore(r.PayoutID), dapi.CaptureLastResponse(&response),
		dapi.BeforeSigning(func(ctx context.Context, booked *dapi.Payout) error {
			if doubted != "" && booked.ID != doubted {
				return errForgotten
			}
			if s.record.offersRefused(booked.Quote, time.Now()) {
				return errors.New("the service still offers the price that was refused")
			}
			if !s.inDoubt && s.record.late(time.Now()) {
				return errors.New("the deadline has passed")
			}
			signs = true
			return s.save(ctx, s.record.signing(booked.ID, booked.Quote), false)
		}))
	for _, option := range s.history() {
		options = append(options, option)
	}
	payout, err := s.p.services.of(r).payouts.Pay(ctx, *r.Payout, r.Key, options...)
	s.queued = response.Queued
	f := paid(payout, err)
	if !s.inDoubt && !signs && f.verdict == verdictUnknown {
		f = unsigned(f, payout, err)
	}
	switch f.verdict {
	case verdictPaid, verdictCompleted, verdictReturned:
		return f
	}
	if doubted != "" && f.payoutID != "" && f.payoutID != doubted {
		return found{verdict: verdictTooOld, mayHaveLeft: true,
			reason: &Reason{Code: ReasonKeyTooOld, Message: errForgotten.Error()}}
	}
	return f
}

// unsigned returns what a call shows that has signed nothing, of a payment for which no earlier call has. The client
// cannot know that: it takes a booking from before for a doubt. If a booking has another status than that of one that
// waits, the doubt stays.
func unsigned(f found, payout *dapi.Payout, err error) found {
	if payout != nil && payout.Status != dapi.PayoutStatusAwaitingApproval {
		return f
	}
	cause := causeOf(err)
	if failure, typed := errors.AsType[errors.Failure](cause); typed && failure.MovedByCall() == errors.NotMoved {
		f = paid(payout, cause)
	}
	f.mayHaveLeft = false
	return f
}

// errForgotten is the error of a booking that is not the one from before. It says nothing about the payout that an
// earlier call may have paid.
var errForgotten = errors.New("the service has booked another payout than before for the same key, " +
	"so it has forgotten the key")

// history says what is known of earlier calls with the key. If none of them can have paid, a refusal is final for this
// call.
func (s *progress) history() []dapi.KeyOption {
	history := []dapi.KeyOption{dapi.FirstUsedAt(s.record.FirstUsed)}
	if !s.inDoubt {
		history = append(history, dapi.FirstUse())
	}
	return history
}
