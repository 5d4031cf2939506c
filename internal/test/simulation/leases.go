package simulation

import (
	"slices"
	"sync"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/payments"
)

// leaseBook holds what the leases of a store must be, by the calls that it has answered.
type leaseBook struct {
	books *Books

	mu   sync.Mutex
	held map[moneymovement.Key]heldLease
}

type heldLease struct {
	payments.Lease

	until    time.Time
	released bool
}

func newLeaseBook(books *Books) *leaseBook {
	return &leaseBook{books: books, held: map[moneymovement.Key]heldLease{}}
}

// claimed checks that nobody else held the payments, and that their epochs have risen.
func (l *leaseBook) claimed(claim payments.Claim, claimed []payments.Claimed) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, one := range claimed {
		before := l.held[one.Key]
		if !before.released && time.Now().Before(before.until) {
			l.books.note("%s was claimed by %s while %s held it", one.Key, claim.Owner, before.Owner)
		}
		if one.Lease.Epoch <= before.Epoch {
			l.books.note("%s was claimed with epoch %d after epoch %d", one.Key, one.Lease.Epoch, before.Epoch)
		}
		if claim.Key == "" && one.Due.After(claim.Now) {
			l.books.note("%s was claimed %v before it was due", one.Key, one.Due.Sub(claim.Now))
		}
		l.held[one.Key] = heldLease{Lease: one.Lease, until: time.Now().Add(claim.For)}
	}
}

// wrote checks that a payment was changed under its last lease.
func (l *leaseBook) wrote(one payments.Claimed, release bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	held := l.held[one.Key]
	if held.Lease != one.Lease || held.released {
		l.books.note("%s was changed by %s with epoch %d, and the lease is that of %s with epoch %d", one.Key,
			one.Lease.Owner, one.Lease.Epoch, held.Owner, held.Epoch)
		return
	}
	held.released = release
	l.held[one.Key] = held
}

// extended notes until when leases last.
func (l *leaseBook) extended(leases map[moneymovement.Key]payments.Lease, lost []moneymovement.Key, d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for key, lease := range leases {
		if held := l.held[key]; held.Lease == lease && !held.released && !slices.Contains(lost, key) {
			held.until = time.Now().Add(d)
			l.held[key] = held
		}
	}
}
