package payments

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
)

// held are the leases of this process. They are renewed while it holds any.
type held struct {
	store  Store
	owner  string
	lasts  time.Duration
	outage *outage
	now    func() time.Time
	mu     sync.Mutex
	leases map[moneymovement.Key]heldLease
	steps  map[moneymovement.Key][]*heldStep // that have not ended, also of leases that are lost
	paused map[moneymovement.Key]time.Time   // when to go on with payments whose pause the store did not take
	quit   chan struct{}                     // ends the renewal; nil if none runs
}

type heldLease struct {
	Lease
	lose context.CancelCauseFunc
	end  *time.Timer // loses the lease, unless it is renewed before
}

// heldStep is a step under a lease.
type heldStep struct {
	over    chan struct{} // closed when the step has ended
	retryAt time.Time     // when the service asked to come back; set before over is closed
}

func newHeld(store Store, config Config, outage *outage) *held {
	return &held{store: store, owner: config.Owner, lasts: config.LeaseFor, outage: outage, now: config.Now,
		leases: map[moneymovement.Key]heldLease{}, steps: map[moneymovement.Key][]*heldStep{},
		paused: map[moneymovement.Key]time.Time{}}
}

// keep renews the lease of a payment that was claimed at a time, until done is called. The returned context ends when
// the lease is lost, or has not been renewed for as long as it lasts: another process may then have claimed the
// payment. If earlier leases of the payment ended unnoticed, and this process has claimed it again, keep ends the
// steps under them and waits for their end. It then returns when the service asked to come back, also if the store
// did not take that. done takes the time at which the service asked to come back, and whether the store has it.
func (h *held) keep(ctx context.Context, claimed Claimed, at time.Time) (
	kept context.Context, retryAt time.Time, done func(retryAt time.Time, stored bool),
) {
	kept, lose := context.WithCancelCause(ctx)
	left := time.Until(at.Add(h.lasts))
	over := func() { lose(&LeaseLost{Key: claimed.Key, Lease: claimed.Lease}) }
	if left <= 0 { // the claim took too long; a timer would end the context a little after the step has begun
		over()
	}
	end := time.AfterFunc(left, over)
	step := &heldStep{over: make(chan struct{})}
	others, retryAt := h.take(ctx, claimed.Key, heldLease{claimed.Lease, lose, end}, step)
	for _, old := range others {
		select {
		case <-old.over:
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

// take adds a lease and the step under it. If there was a lease of the payment, it is lost. take returns the steps of
// the payment that have not ended, and until when the payment must pause.
func (h *held) take(
	ctx context.Context, key moneymovement.Key, lease heldLease, step *heldStep,
) ([]*heldStep, time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if old := h.leases[key]; old.lose != nil {
		old.lose(&LeaseLost{Key: key, Lease: old.Lease})
	}
	h.leases[key] = lease
	if h.quit == nil {
		h.quit = make(chan struct{})
		go h.renew(context.WithoutCancel(ctx), h.quit)
	}
	paused := h.paused[key]
	delete(h.paused, key)
	others := slices.Clone(h.steps[key])
	h.steps[key] = append(h.steps[key], step)
	return others, paused
}

// release ends a step, and removes its lease, unless there is a newer one. It remembers a pause that the store did not
// take.
func (h *held) release(
	key moneymovement.Key, lease Lease, step *heldStep, retryAt time.Time, stored bool,
) {
	h.mu.Lock()
	defer h.mu.Unlock()
	step.retryAt = retryAt
	close(step.over)
	h.steps[key] = slices.DeleteFunc(h.steps[key], func(s *heldStep) bool { return s == step })
	if len(h.steps[key]) == 0 {
		delete(h.steps, key)
	}
	if now := h.now(); !stored && retryAt.After(now) {
		maps.DeleteFunc(h.paused, func(_ moneymovement.Key, until time.Time) bool { return !until.After(now) })
		h.paused[key] = later(h.paused[key], retryAt)
	}
	if h.leases[key].Lease == lease {
		delete(h.leases, key)
	}
	if len(h.leases) == 0 && h.quit != nil {
		close(h.quit)
		h.quit = nil
	}
}

// renew runs while there are leases. A store that fails is asked again.
func (h *held) renew(ctx context.Context, quit <-chan struct{}) {
	ticker := time.NewTicker(max(h.lasts*3/10, 1)) // the third try comes before the lease ends
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
		timed, cancel := context.WithTimeout(ctx, h.lasts)
		lost, err := h.store.Extend(timed, leases, h.lasts)
		cancel()
		if h.outage.noted(ctx, "leases could not be renewed", err); err != nil {
			continue
		}
		for _, key := range lost {
			h.lost(key, leases[key])
			delete(leases, key)
		}
		h.renewed(leases, asked)
	}
}

// renewed puts off the end of leases that were renewed at a time.
func (h *held) renewed(leases map[moneymovement.Key]Lease, at time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for key, lease := range leases {
		if held := h.leases[key]; held.Lease == lease && held.lose != nil {
			held.end.Reset(time.Until(at.Add(h.lasts)))
		}
	}
}

func (h *held) list() map[moneymovement.Key]Lease {
	h.mu.Lock()
	defer h.mu.Unlock()
	leases := make(map[moneymovement.Key]Lease, len(h.leases))
	for key, lease := range h.leases {
		leases[key] = lease.Lease
	}
	return leases
}

func (h *held) lost(key moneymovement.Key, lease Lease) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if held := h.leases[key]; held.Lease == lease && held.lose != nil {
		held.lose(&LeaseLost{Key: key, Lease: lease})
	}
}
