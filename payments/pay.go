package payments

import (
	"context"
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
		if !s.paying || s.shown.State == moneymovement.PaymentPaid {
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
	var quote *dapi.Quote
	var response moneymovement.Response
	payment, err := s.p.services.of(r).payouts.Pay(ctx, *r.Payout, r.Key, dapi.PayTerms{
		Bounds: orAsSeen(r.Bounds, r.FirstQuote), History: s.history(),
		BeforeSigning: func(_ context.Context, booked *dapi.Payout) error {
			if quote = booked.Quote; s.record.offersRefused(quote, s.p.config.Now()) {
				return errors.New("the service still offers the price that was refused")
			}
			return s.inTime()
		},
		Journal: func(ctx context.Context, history dapi.History) error {
			return s.journal(ctx, s.record.signing(history, quote))
		},
	}, moneymovement.CaptureResponse(&response))
	s.queued = response.Queued
	return shows(payment.State, payment.Unpaid, payment.Refusal, err, payment.RetryAt).ofPayout(payment.Payout)
}

// journal stores that money may leave, before an approval is signed: a process that has lost its lease then signs
// nothing.
func (s *progress) journal(ctx context.Context, next Record) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.save(ctx, next, false)
	s.shown = s.record
	return err
}

// inTime refuses a payment whose deadline has passed, unless money may have left.
func (s *progress) inTime() error {
	if !s.inDoubt && s.record.late(s.p.config.Now()) {
		return errors.New("the deadline has passed")
	}
	return nil
}

// history returns what is known of earlier calls with the key. If none of them can have paid, the age of the key does
// not matter: a service whose clock is a week ahead would find each key too old.
func (s *progress) history() dapi.History {
	r := &s.record
	history := dapi.History{PayoutID: r.PayoutID, Quote: r.FirstQuote, Unpaid: !s.inDoubt}
	if r.Kind != KindPayout {
		history.EscrowID = r.EscrowID
	}
	if s.inDoubt {
		history.FirstUsed = time.Now().Add(r.FirstUsed.Sub(s.p.config.Now()))
	}
	return history
}
