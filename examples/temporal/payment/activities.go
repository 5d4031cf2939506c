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
	Bounds  Bounds
	Key     moneymovement.Key
	// FirstUse says that no earlier call with the key can have paid.
	FirstUse bool
	// FirstUsed is the time of the first call with the key that may have paid, or of this call.
	FirstUsed time.Time
	// PayoutID is the payout that an earlier call has booked, empty if it is not known.
	PayoutID dapi.PayoutID
}

// Receipt is what is known about a payout that was paid or has ended.
type Receipt struct {
	PayoutID dapi.PayoutID
	State    dapi.PaymentState // paid or ended, and empty if Find found nothing
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

	options := append(call.Bounds.options(), call.history(first, time.Now())...)
	options = append(options, dapi.BookedBefore(cmp.Or(alive.before, call.PayoutID)),
		dapi.BeforeSigning(func(_ context.Context, booked *dapi.Payout) error {
			alive.note(booked.ID)
			return nil
		}))
	payout, err := a.account(call.Account).Payouts.Pay(paying, call.Terms, call.Key, options...)
	state := dapi.PaymentStateOf(payout, err)
	if payout != nil && (state == dapi.PaymentPaid || state == dapi.PaymentEnded) {
		return Receipt{PayoutID: payout.ID, State: state, Status: payout.Status}, nil
	}
	if err == nil { // a payout that shows neither, which the same call settles later
		err = errors.New("Pay returned a payout that is not paid")
	}
	problem := problemOf(payout, err)
	if problem.PayoutID == "" { // this attempt met no payout, but an attempt before may have
		problem.PayoutID = alive.stop()
	}
	return Receipt{}, problem.failure()
}

// history says what is known about earlier calls with the key. The workflow knows about its own calls. Temporal repeats
// an activity with the same input, so only the first attempt may say that no earlier call can have paid. The age of the
// key is checked in any case.
func (c PayCall) history(first bool, now time.Time) []dapi.PayOption {
	used := c.FirstUsed
	if used.After(now) { // the clock of the Temporal server is ahead of this machine's
		used = now
	}
	options := []dapi.PayOption{dapi.FirstUsedAt(used)}
	if c.FirstUse && first {
		options = append(options, dapi.FirstUse())
	}
	return options
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
	booked dapi.PayoutID // by this attempt or by one before
}

func newHeartbeat(ctx context.Context, timeout time.Duration) *heartbeat {
	h := &heartbeat{notes: make(chan dapi.PayoutID)}
	if activity.HasHeartbeatDetails(ctx) {
		_ = activity.GetHeartbeatDetails(ctx, &h.before) // without the id, the call finds the payout by its key
		h.booked = h.before
	}
	until, cancel := context.WithCancel(ctx)
	h.cancel, h.done = cancel, until.Done()
	h.beats.Go(func() {
		ticker := time.NewTicker(timeout / 3)
		defer ticker.Stop()
		for {
			activity.RecordHeartbeat(ctx, h.booked) // first before anything is sent, so that the next attempt sees it
			select {
			case <-h.done:
				return
			case h.booked = <-h.notes:
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

// stop ends the heartbeats, and returns the booked payout.
func (h *heartbeat) stop() dapi.PayoutID {
	h.cancel()
	h.beats.Wait()
	return h.booked
}
