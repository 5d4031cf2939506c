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

// payOut makes a payout.
func (s *progress) payOut(ctx context.Context) found {
	r := &s.record
	var response moneymovement.Response
	options := append(r.Bounds.orAsSeen(r.FirstQuote).options(), dapi.BookedBefore(r.PayoutID),
		dapi.CaptureLastResponse(&response),
		dapi.BeforeSigning(func(ctx context.Context, booked *dapi.Payout) error {
			if s.record.offersRefused(booked.Quote, time.Now()) {
				return errors.New("the service still offers the price that was refused")
			}
			return s.beforeSigning(ctx, s.record.signing(booked.ID, booked.Quote))
		}))
	for _, option := range s.history() {
		options = append(options, option)
	}
	payout, err := s.p.services.of(r).payouts.Pay(ctx, *r.Payout, r.Key, options...)
	s.queued = response.Queued
	f := paid(payout, err)
	if waits := payout == nil || payout.Status == dapi.PayoutStatusAwaitingApproval; waits && s.unsigned(f) {
		if cause := refusalOf(err); cause != nil {
			f = paid(payout, cause)
		}
		f.mayHaveLeft = false
	}
	return f
}

// beforeSigning stores that money may leave, before an approval is signed: a process that has lost its lease then signs
// nothing.
func (s *progress) beforeSigning(ctx context.Context, next Record) error {
	if !s.inDoubt && s.record.late(time.Now()) {
		return errors.New("the deadline has passed")
	}
	s.signs = true
	return s.save(ctx, next, false)
}

// unsigned reports a doubt after a call that has signed nothing, of a payment for which no earlier call has. The client
// cannot know that: it takes a booking from before for a doubt. If what was booked does not wait for its approval, the
// doubt stays.
func (s *progress) unsigned(f found) bool {
	return !s.inDoubt && !s.signs && f.verdict == verdictUnknown
}

// refusalOf returns the cause of a doubt if it shows that its call did nothing, else nil.
func refusalOf(err error) error {
	cause := causeOf(err)
	if failure, typed := errors.AsType[errors.Failure](cause); typed && failure.MovedByCall() == errors.NotMoved {
		return cause
	}
	return nil
}

// history says what is known of earlier calls with the key. If none of them can have paid, a refusal is final for this
// call, and the age of the key does not matter: a service whose clock is a week ahead would find each key too old.
func (s *progress) history() []dapi.KeyOption {
	if s.inDoubt {
		return []dapi.KeyOption{dapi.FirstUsedAt(s.record.FirstUsed)}
	}
	return []dapi.KeyOption{dapi.FirstUse()}
}
