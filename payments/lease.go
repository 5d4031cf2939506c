package payments

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
)

// leaseHolder has the leases of this process. It renews them while there are any.
type leaseHolder struct {
	store       Store
	owner       string
	duration    time.Duration
	outage      *outage
	now         func() time.Time
	mu          sync.Mutex
	leases      map[moneymovement.Key]heldLease
	steps       map[moneymovement.Key][]*heldStep // that have not ended, also of leases that are lost
	retryAt     map[moneymovement.Key]time.Time   // when to go on with payments whose pause the store did not take
	stopRenewal chan struct{}                     // ends the renewal; nil if none runs
}

type heldLease struct {
	Lease
	cancel context.CancelCauseFunc
	end    *time.Timer // loses the lease, unless it is renewed before
}

// heldStep is a step under a lease.
type heldStep struct {
	done    chan struct{} // closed when the step has ended
	retryAt time.Time     // when the service asked to come back; set before over is closed
}

func newLeaseHolder(store Store, config Config, outage *outage) *leaseHolder {
	return &leaseHolder{store: store, owner: config.Owner, duration: config.LeaseFor, outage: outage, now: config.Now,
		leases: map[moneymovement.Key]heldLease{}, steps: map[moneymovement.Key][]*heldStep{},
		retryAt: map[moneymovement.Key]time.Time{}}
}

// hold renews the lease of a payment that was claimed at a time, until done is called. kept ends when the lease is
// lost, or has not been renewed for as long as it lasts: another process may then have claimed the payment.
//
// This process may have claimed the payment before, under a lease that ended. hold cancels the steps under such leases
// and waits for their end. retryAt is when the service asked them to come back, which the store may not have.
//
// done takes the time at which the service asked to come back, and whether the store has it.
func (h *leaseHolder) hold(ctx context.Context, claimed Claimed, at time.Time) (
	kept context.Context, retryAt time.Time, done func(retryAt time.Time, stored bool),
) {
	kept, lose := context.WithCancelCause(ctx)
	left := time.Until(at.Add(h.duration))
	expire := func() { lose(&LeaseLost{Key: claimed.Key, Lease: claimed.Lease}) }
	if left <= 0 { // the claim took too long; a timer would end the context a little after the step has begun
		expire()
	}
	end := time.AfterFunc(left, expire)
	step := &heldStep{done: make(chan struct{})}
	earlier, retryAt := h.add(ctx, claimed.Key, heldLease{claimed.Lease, lose, end}, step)
	for _, old := range earlier {
		select {
		case <-old.done:
			retryAt = later(retryAt, old.retryAt)
		case <-kept.Done():
		}
	}
	return kept, retryAt, func(retryAt time.Time, stored bool) {
		h.release(claimed.Key, claimed.Lease, step, retryAt, stored)
		end.Stop()
		lose(context.Canceled)
	}
}

// add adds a lease and the step under it. If there was a lease of the payment, it is lost. add returns the steps of
// the payment that have not ended, and until when the payment must pause.
func (h *leaseHolder) add(
	ctx context.Context, key moneymovement.Key, lease heldLease, step *heldStep,
) ([]*heldStep, time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if old := h.leases[key]; old.cancel != nil {
		old.cancel(&LeaseLost{Key: key, Lease: old.Lease})
	}
	h.leases[key] = lease
	if h.stopRenewal == nil {
		h.stopRenewal = make(chan struct{})
		go h.renew(context.WithoutCancel(ctx), h.stopRenewal)
	}
	paused := h.retryAt[key]
	delete(h.retryAt, key)
	others := slices.Clone(h.steps[key])
	h.steps[key] = append(h.steps[key], step)
	return others, paused
}

// release ends a step, and removes its lease, unless there is a newer one. It remembers a pause that the store did not
// take.
func (h *leaseHolder) release(
	key moneymovement.Key, lease Lease, step *heldStep, retryAt time.Time, stored bool,
) {
	h.mu.Lock()
	defer h.mu.Unlock()
	step.retryAt = retryAt
	close(step.done)
	h.steps[key] = slices.DeleteFunc(h.steps[key], func(s *heldStep) bool { return s == step })
	if len(h.steps[key]) == 0 {
		delete(h.steps, key)
	}
	if now := h.now(); !stored && retryAt.After(now) {
		maps.DeleteFunc(h.retryAt, func(_ moneymovement.Key, until time.Time) bool { return !until.After(now) })
		h.retryAt[key] = later(h.retryAt[key], retryAt)
	}
	if h.leases[key].Lease == lease {
		delete(h.leases, key)
	}
	if len(h.leases) == 0 && h.stopRenewal != nil {
		close(h.stopRenewal)
		h.stopRenewal = nil
	}
}

// renew runs while there are leases. A store that fails is asked again.
func (h *leaseHolder) renew(ctx context.Context, quit <-chan struct{}) {
	ticker := time.NewTicker(max(h.duration*3/10, 1)) // the third try comes before the lease ends
	defer ticker.Stop()
	for {
		select {
		case <-quit:
			return
		case <-ticker.C:
		}
		select {
		case <-quit: // both were ready: the store was slow, and the last lease ended meanwhile
			return
		default:
		}
		leases := h.list()
		asked := time.Now()
		timed, cancel := context.WithTimeout(ctx, h.duration)
		lost, err := h.store.Extend(timed, leases, h.duration)
		cancel()
		if h.outage.record(ctx, "leases could not be renewed", err); err != nil {
			continue
		}
		for _, key := range lost {
			h.lose(key, leases[key])
			delete(leases, key)
		}
		h.postponeEnds(leases, asked)
	}
}

// postponeEnds puts off the end of leases that were renewed at a time.
func (h *leaseHolder) postponeEnds(leases map[moneymovement.Key]Lease, at time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for key, lease := range leases {
		if held := h.leases[key]; held.Lease == lease && held.cancel != nil {
			held.end.Reset(time.Until(at.Add(h.duration)))
		}
	}
}

func (h *leaseHolder) list() map[moneymovement.Key]Lease {
	h.mu.Lock()
	defer h.mu.Unlock()
	leases := make(map[moneymovement.Key]Lease, len(h.leases))
	for key, lease := range h.leases {
		leases[key] = lease.Lease
	}
	return leases
}

func (h *leaseHolder) lose(key moneymovement.Key, lease Lease) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if held := h.leases[key]; held.Lease == lease && held.cancel != nil {
		held.cancel(&LeaseLost{Key: key, Lease: lease})
	}
}
