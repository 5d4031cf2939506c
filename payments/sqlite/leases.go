package sqlite

import (
	"sync"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/payments"
)

// leases are who may change which row. They end with the process, and so they need no disk.
type leases struct {
	mu    sync.Mutex
	held  map[moneymovement.Key]*lease
	epoch int64 // of the last lease
}

type lease struct {
	payments.Lease
	until time.Time
	// writing means that a transaction changes the row under this lease: until it has ended, nobody else may take the
	// row, because a reader could still see it as it was.
	writing bool
	// ending means that this transaction releases the lease.
	ending bool
	// account and due are the row's, as far as it is stored.
	account dapi.ClientID
	due     int64 // in microseconds
}

// epochBits is how many leases a store can give each time it is opened, as a power of two. The bits above are how often
// it was opened, so that epochs rise over restarts.
const epochBits = 40

func newLeases(opened int64) *leases {
	return &leases{held: map[moneymovement.Key]*lease{}, epoch: opened << epochBits}
}

// free reports whether no lease holds a row.
func (l *leases) free(key moneymovement.Key) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.held[key].holds()
}

func (l *lease) holds() bool { return l != nil && (l.writing || time.Now().Before(l.until)) }

// take leases a row, if it is free.
func (l *leases) take(key moneymovement.Key, owner string, lasts time.Duration) (payments.Lease, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held[key].holds() {
		return payments.Lease{}, false
	}
	l.epoch++
	taken := &lease{Lease: payments.Lease{Owner: owner, Epoch: l.epoch}, until: time.Now().Add(lasts)}
	l.held[key] = taken
	return taken.Lease, true
}

// claimed stores what the row of a lease says.
func (l *leases) claimed(r *row, given payments.Lease) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if held := l.of(r.key, given); held != nil {
		held.account, held.due = r.account, r.due
	}
}

// of returns the lease of a row, nil if it is another one. The caller holds the lock.
func (l *leases) of(key moneymovement.Key, given payments.Lease) *lease {
	if held := l.held[key]; held != nil && held.Lease == given && !held.ending {
		return held
	}
	return nil
}

// drop gives a lease back, if it is still the row's.
func (l *leases) drop(key moneymovement.Key, given payments.Lease) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.of(key, given) == nil {
		return false
	}
	delete(l.held, key)
	return true
}

// unmoved drops a lease if the row is due at this time already.
func (l *leases) unmoved(key moneymovement.Key, given payments.Lease, due int64) (dropped bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	held := l.of(key, given)
	if held == nil || held.writing || held.due != due {
		return false
	}
	delete(l.held, key)
	return true
}

// extend lets a lease last from now on.
func (l *leases) extend(key moneymovement.Key, given payments.Lease, lasts time.Duration) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	held := l.of(key, given)
	if held == nil {
		return false
	}
	held.until = time.Now().Add(lasts)
	return true
}

// begin keeps a lease for a transaction, which may release it. It returns the row's account.
func (l *leases) begin(key moneymovement.Key, given payments.Lease, release bool) (account dapi.ClientID, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	held := l.of(key, given)
	if held == nil {
		return "", false
	}
	held.writing, held.ending = true, release
	return held.account, true
}

// end follows begin when the transaction has ended.
func (l *leases) end(key moneymovement.Key, given payments.Lease, due int64, release, committed bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	held := l.held[key]
	if held == nil || held.Lease != given {
		return // a transaction with two saves of the row ends twice
	}
	held.writing, held.ending = false, false
	if !committed {
		return
	}
	if held.due = due; release {
		delete(l.held, key)
	}
}
