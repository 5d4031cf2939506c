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
}

func newHeld(store Store, config Config) *held {
	return &held{store: store, owner: config.Owner, lasts: config.LeaseFor, logger: config.Logger,
		leases: map[moneymovement.Key]heldLease{}}
}

// keep renews a row's lease until done is called. The returned context ends when the lease is lost.
func (h *held) keep(ctx context.Context, row Row) (kept context.Context, done func()) {
	kept, lose := context.WithCancelCause(ctx)
	h.mu.Lock()
	defer h.mu.Unlock()
	if old := h.leases[row.Key]; old.lose != nil { // it ended unnoticed, and this process claimed the payment again
		old.lose(&LeaseLost{Key: row.Key, Lease: old.Lease})
	}
	h.leases[row.Key] = heldLease{row.Lease, lose}
	if h.quit == nil {
		h.quit = make(chan struct{})
		go h.renew(context.WithoutCancel(ctx), h.quit)
	}
	return kept, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.leases[row.Key].Lease == row.Lease {
			delete(h.leases, row.Key)
		}
		if len(h.leases) == 0 && h.quit != nil {
			close(h.quit)
			h.quit = nil
		}
		lose(context.Canceled)
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
