package payments

import (
	"context"
	"net/http"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/ratewindow"
)

// pay makes the call that pays, and returns what it shows. The begun call is stored.
func (s *progress) pay(ctx context.Context) found {
	s.during(func() { s.paying, s.shown = true, s.record })
	defer s.during(func() { s.paying = false })
	ctx = ratewindow.WatchQueue(ctx, func(window moneymovement.Window, until time.Time) func() {
		return s.waits(ctx, window, until)
	})
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

func (s *progress) during(change func()) { s.mu.Lock(); defer s.mu.Unlock(); change() }

// waits stores that the call waits for room in a rate window. It does not matter if that fails. A login waits for all
// calls that need it, and can end after this one.
func (s *progress) waits(ctx context.Context, window moneymovement.Window, until time.Time) (over func()) {
	s.p.load.calls.Add(1)
	s.during(func() {
		if !s.paying || s.shown.State == Paid {
			return
		}
		waiting := s.shown
		waiting.WaitsFor, waiting.WaitsUntil = "room in the rate window "+string(window), until.UTC()
		if _, err := s.p.store.Save(ctx, Claimed{waiting, s.lease}, false); err == nil {
			s.p.changes.happened()
		}
	})
	return func() { s.p.load.calls.Add(-1) }
}

// payOut makes a payout.
func (s *progress) payOut(ctx context.Context) found {
	r := &s.record
	var response moneymovement.Response
	options := append(r.Bounds.orAsSeen(r.FirstQuote).options(), dapi.BookedBefore(r.PayoutID),
		dapi.CaptureLastResponse(&response),
		dapi.BeforeSigning(func(ctx context.Context, booked *dapi.Payout) error {
			if s.record.offersRefused(booked.Quote, s.p.config.Now()) {
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
		f = unsigned(f, err, func(cause error) found { return paid(payout, cause) })
	}
	return f
}

// unsigned returns what is known after a doubt about a call that signed nothing. Nothing has left then, so a refusal is
// what it says, also one that may have booked something.
func unsigned(f found, err error, show func(cause error) found) found {
	cause := causeOf(err)
	failure, typed := errors.AsType[errors.Failure](cause)
	refusal, refused := errors.AsType[*errors.Refusal](cause)
	switch {
	case typed && failure.MovedByCall() == errors.NotMoved:
		f = show(cause)
	case refused && refusal.Status >= http.StatusInternalServerError:
		f.verdict, f.reason = verdictWait, reasonOf(cause)
	}
	f.mayHaveLeft = false
	return f
}

// beforeSigning stores that money may leave, before an approval is signed: a process that has lost its lease then signs
// nothing.
func (s *progress) beforeSigning(ctx context.Context, next Record) error {
	if !s.inDoubt && s.record.late(s.p.config.Now()) {
		return errors.New("the deadline has passed")
	}
	s.signs = true
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.save(ctx, next, false)
	s.shown = s.record
	return err
}

// unsigned reports a doubt after a call that has signed nothing, of a payment for which no earlier call has. The client
// cannot know that: it takes a booking from before for a doubt. If what was booked does not wait for its approval, the
// doubt stays.
func (s *progress) unsigned(f found) bool {
	return !s.inDoubt && !s.signs && f.verdict == verdictUnknown
}

// history says what is known of earlier calls with the key. If none of them can have paid, a refusal is final for this
// call, and the age of the key does not matter: a service whose clock is a week ahead would find each key too old.
func (s *progress) history() []dapi.KeyOption {
	if s.inDoubt {
		return []dapi.KeyOption{dapi.FirstUsedAt(time.Now().Add(s.record.FirstUsed.Sub(s.p.config.Now())))}
	}
	return []dapi.KeyOption{dapi.FirstUse()}
}
