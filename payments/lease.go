package payments

import (
	"context"
	"log/slog"
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
	quit   chan struct{} // ends the renewal; nil if none runs
}

type heldLease struct {
	Lease
	lose context.CancelCauseFunc
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
		leases: map[moneymovement.Key]heldLease{}}
}

// keep renews a row's lease until done is called, with the time at which the service asked to come back. The returned
// context ends when the lease is lost. If an earlier lease of the payment ended unnoticed, and this process has claimed
// it again, keep ends the step under that lease and waits for its end. It then returns when the service asked to come
// back.
func (h *held) keep(ctx context.Context, row Row) (kept context.Context, retryAt time.Time, done func(time.Time)) {
	kept, lose := context.WithCancelCause(ctx)
	step := &heldStep{over: make(chan struct{})}
	old := h.take(ctx, row, heldLease{row.Lease, lose, step})
	if old != nil {
		select {
		case <-old.over:
			retryAt = old.retryAt
		case <-kept.Done():
		}
	}
	return kept, retryAt, func(retryAt time.Time) {
		step.end(retryAt)
		h.release(row)
		lose(context.Canceled)
	}
}

// take adds a lease. If there was one of the payment, it is lost, and take returns its step.
func (h *held) take(ctx context.Context, row Row, lease heldLease) *heldStep {
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
	return old.step
}

// release removes a lease, unless there is a newer one.
func (h *held) release(row Row) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.leases[row.Key].Lease == row.Lease {
		delete(h.leases, row.Key)
	}
	if len(h.leases) == 0 && h.quit != nil {
		close(h.quit)
		h.quit = nil
	}
}

// renew runs while there are leases. A store that fails is asked again: the lease may end meanwhile, and then Save says
// so.
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
		timed, cancel := context.WithTimeout(ctx, h.lasts)
		lost, err := h.store.Extend(timed, leases, h.lasts)
		cancel()
		if err != nil {
			h.logger.LogAttrs(ctx, slog.LevelWarn, "payments: leases could not be renewed", slog.Any("error", err))
		}
		for _, key := range lost {
			h.lost(key, leases[key])
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
