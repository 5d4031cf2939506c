package payments

import (
	"context"
	"log/slog"
	"maps"
	"sync"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
)

// held are the leases of this process. They are renewed while it holds any.
type held struct {
	store  Store
	owner  string
	lasts  time.Duration
	logger *slog.Logger
	mu     sync.Mutex
	leases map[moneymovement.Key]heldLease
	paused map[moneymovement.Key]time.Time // when to go on with payments whose pause the store did not take
	quit   chan struct{}                   // ends the renewal; nil if none runs
}

type heldLease struct {
	Lease
	lose context.CancelCauseFunc
	end  *time.Timer // loses the lease, unless it is renewed before
	step *heldStep
}

// heldStep is a step under a lease.
type heldStep struct {
	over    chan struct{} // closed when the step has ended
	retryAt time.Time     // when the service asked to come back; set before over is closed
}

// end ends a step.
func (s *heldStep) end(retryAt time.Time) {
	s.retryAt = retryAt
	close(s.over)
}

func newHeld(store Store, config Config) *held {
	return &held{store: store, owner: config.Owner, lasts: config.LeaseFor, logger: config.Logger,
		leases: map[moneymovement.Key]heldLease{}, paused: map[moneymovement.Key]time.Time{}}
}

// keep renews a row's lease, which was claimed at the given time, until done is called. The returned context ends when
// the lease is lost, or has not been renewed for as long as it lasts: another process may then have claimed the
// payment. If an earlier lease of the payment ended unnoticed, and this process has claimed it again, keep ends the
// step under that lease and waits for its end. It then returns when the service asked to come back, also if the store
// did not take that. done takes the time at which the service asked to come back, and whether the store has it.
func (h *held) keep(ctx context.Context, row Row, claimed time.Time) (
	kept context.Context, retryAt time.Time, done func(retryAt time.Time, stored bool),
) {
	kept, lose := context.WithCancelCause(ctx)
	end := time.AfterFunc(time.Until(claimed.Add(h.lasts)), func() { lose(&LeaseLost{Key: row.Key, Lease: row.Lease}) })
	step := &heldStep{over: make(chan struct{})}
	old, retryAt := h.take(ctx, row, heldLease{row.Lease, lose, end, step})
	if old != nil {
		select {
		case <-old.over:
			retryAt = later(retryAt, old.retryAt)
		case <-kept.Done():
		}
	}
	return kept, retryAt, func(retryAt time.Time, stored bool) {
		step.end(retryAt)
		if stored {
			retryAt = time.Time{}
		}
		h.release(row, retryAt)
		end.Stop()
		lose(context.Canceled)
	}
}

// take adds a lease. If there was one of the payment, it is lost, and take returns its step. It also returns until when
// the payment must pause.
func (h *held) take(ctx context.Context, row Row, lease heldLease) (*heldStep, time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	old := h.leases[row.Key]
	if old.lose != nil {
		old.lose(&LeaseLost{Key: row.Key, Lease: old.Lease})
	}
	h.leases[row.Key] = lease
	if h.quit == nil {
		h.quit = make(chan struct{})
		go h.renew(context.WithoutCancel(ctx), h.quit)
	}
	paused := h.paused[row.Key]
	delete(h.paused, row.Key)
	return old.step, paused
}

// release removes a lease, unless there is a newer one. It remembers a pause that the store did not take.
func (h *held) release(row Row, paused time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if now := time.Now(); paused.After(now) {
		maps.DeleteFunc(h.paused, func(_ moneymovement.Key, until time.Time) bool { return !until.After(now) })
		h.paused[row.Key] = paused
	}
	if h.leases[row.Key].Lease == row.Lease {
		delete(h.leases, row.Key)
	}
	if len(h.leases) == 0 && h.quit != nil {
		close(h.quit)
		h.quit = nil
	}
}

// renew runs while there are leases. A store that fails is asked again.
func (h *held) renew(ctx context.Context, quit <-chan struct{}) {
	ticker := time.NewTicker(max(h.lasts/3, 1))
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
		if err != nil {
			h.logger.LogAttrs(ctx, slog.LevelWarn, "payments: leases could not be renewed", slog.Any("error", err))
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
