package payment

import (
	"cmp"
	"context"
	"sync"
	"time"

	"go.temporal.io/sdk/activity"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/payments"
)

// Activities makes the calls of a payment. Register it with a worker.
type Activities struct {
	// Platform is the client of the service. One client serves all payments of a worker.
	Platform *dapi.Integrator
}

// PayCall is one call of [Activities.Pay].
type PayCall struct {
	Account dapi.ClientID
	Terms   dapi.PayoutCreate
	Bounds  dapi.Bounds
	Key     moneymovement.Key
	// History is what the workflow knows of earlier calls with the key. FirstUsed is set.
	History dapi.History
}

// Receipt is what is known about a payout that was paid or has ended.
type Receipt struct {
	PayoutID dapi.PayoutID
	State    moneymovement.PaymentState // paid or ended, and empty if Find found nothing
	Status   dapi.PayoutStatus
}

// The times of a call of Pay. Its context ends before Temporal's timeout does, so that its result is recorded.
const (
	payTimeout       = 5 * time.Minute
	payReserve       = 30 * time.Second
	heartbeatTimeout = 30 * time.Second
	readTimeout      = time.Minute
)

// Pay books, checks the price, signs and confirms. It is safe to repeat and to run twice at the same time, because each
// call has the same key and terms. Its errors carry a [Problem].
func (a *Activities) Pay(ctx context.Context, call PayCall) (Receipt, error) {
	info := activity.GetInfo(ctx)
	paying, cancel := context.WithDeadline(ctx, info.Deadline.Add(-payReserve))
	defer cancel()
	first := info.Attempt == 1 && !activity.HasHeartbeatDetails(ctx)
	alive := newHeartbeat(ctx, info.HeartbeatTimeout)
	defer alive.stop()

	terms := call.payTerms(first, alive.before, time.Now())
	terms.BeforeSigning = func(_ context.Context, booked *dapi.Payout) error {
		alive.note(booked.ID)
		return nil
	}
	made, err := a.account(call.Account).Payouts.Pay(paying, call.Terms, call.Key, terms)
	switch made.State {
	case moneymovement.PaymentPaid, moneymovement.PaymentEnded:
		if made.Payout.ID != "" {
			return Receipt{PayoutID: made.Payout.ID, State: made.State, Status: made.Payout.Status}, nil
		}
		err = errors.New("the service says that it is paid, and does not name the payout: the same call finds it later")
	}
	return Receipt{}, problemOf(made, err).failure()
}

// payTerms returns the terms of an attempt. Temporal repeats an activity with the same input, so only the first attempt
// may say that no earlier call can have paid. The workflow has stored that this call may pay before it began, so there
// is nothing left to journal.
func (c PayCall) payTerms(first bool, booked dapi.PayoutID, now time.Time) dapi.PayTerms {
	terms := dapi.PayTerms{Bounds: c.Bounds, History: c.History}
	known := &terms.History
	known.PayoutID, known.Unpaid = cmp.Or(booked, known.PayoutID), known.Unpaid && first
	if known.FirstUsed.After(now) { // the clock of the Temporal server is ahead of this machine's
		known.FirstUsed = now
	}
	if known.Unpaid {
		terms.Journal = func(context.Context, dapi.History) error { return nil }
	}
	return terms
}

func (a *Activities) account(id dapi.ClientID) *dapi.Account {
	if id == payments.OwnAccount { // a forgotten account must not pay from the own one
		return a.Platform.Self()
	}
	return a.Platform.For(id)
}

// heartbeat shows Temporal that the worker lives, and which payout is booked. If heartbeats stop, Temporal starts the
// next attempt, long before the timeout of the whole call.
type heartbeat struct {
	cancel context.CancelFunc
	done   <-chan struct{}
	beats  sync.WaitGroup
	notes  chan dapi.PayoutID
	before dapi.PayoutID // booked by an attempt before this one
}

func newHeartbeat(ctx context.Context, timeout time.Duration) *heartbeat {
	h := &heartbeat{notes: make(chan dapi.PayoutID)}
	if activity.HasHeartbeatDetails(ctx) {
		_ = activity.GetHeartbeatDetails(ctx, &h.before) // without the id, the call finds the payout by its key
	}
	until, cancel := context.WithCancel(ctx)
	h.cancel, h.done = cancel, until.Done()
	h.beats.Go(func() {
		ticker := time.NewTicker(timeout / 3)
		defer ticker.Stop()
		for booked := h.before; ; {
			activity.RecordHeartbeat(ctx, booked) // first before anything is sent, so that the next attempt sees it
			select {
			case <-h.done:
				return
			case booked = <-h.notes:
			case <-ticker.C:
			}
		}
	})
	return h
}

func (h *heartbeat) note(booked dapi.PayoutID) {
	select {
	case h.notes <- booked:
	case <-h.done:
	}
}

// stop ends the heartbeats.
func (h *heartbeat) stop() {
	h.cancel()
	h.beats.Wait()
}
