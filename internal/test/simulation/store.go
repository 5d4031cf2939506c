package simulation

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/payments"
)

// stepStore is a store as one process sees it. Each call is two steps, before and after its commit, so that a process
// can end between them. A call can be slow, fail before its commit, and fail after it.
type stepStore struct {
	payments.Store

	seed    Seed
	process *Process
	rate    float64 // the part of all calls that fail
	calm    func() bool
	away    func() bool
	saved   func(moneymovement.Key) // is called after a commit
	leases  *leaseBook

	mu     sync.Mutex
	counts map[string]int
}

var errStore = errors.New("the simulated store fails")

// call makes one call of the store. label is what it is about.
func (s *stepStore) call(ctx context.Context, label, operation, detail string, commit func() error) error {
	s.mu.Lock()
	name := label + " " + operation
	s.counts[name]++
	name += " " + strconv.Itoa(s.counts[name])
	s.mu.Unlock()
	random := s.seed.Draw("store", s.process.name, name)
	fault := ""
	if !s.calm() && random.Float64() < s.rate {
		fault = []string{"slow", "fails before", "fails after"}[random.IntN(3)]
	}
	if fault == "slow" {
		if err := pause(ctx, between(random, time.Millisecond, 40*time.Second)); err != nil {
			return err
		}
	}
	s.process.Step(name, detail+fault)
	if fault == "fails before" || s.away() {
		return errStore
	}
	err := commit()
	s.process.Step(name+": done", textOf(err))
	if fault == "fails after" {
		return errors.Join(err, errStore)
	}
	return err
}

// Insert implements payments.Store.
func (s *stepStore) Insert(
	ctx context.Context, record payments.Record,
) (stored payments.Record, inserted bool, err error) {
	err = s.call(ctx, string(record.Key), "insert", "", func() error {
		stored, inserted, err = s.Store.Insert(ctx, record)
		return err
	})
	return stored, inserted, err
}

// Load implements payments.Store.
func (s *stepStore) Load(ctx context.Context, key moneymovement.Key) (record payments.Record, err error) {
	err = s.call(ctx, string(key), "load", "", func() error {
		record, err = s.Store.Load(ctx, key)
		return err
	})
	return record, err
}

// Claim implements payments.Store.
func (s *stepStore) Claim(
	ctx context.Context, claim payments.Claim,
) (claimed []payments.Claimed, next time.Time, err error) {
	label := string(claim.Key)
	if label == "" {
		label = "work " + strconv.Itoa(int(claim.Work))
	}
	err = s.call(ctx, label, "claim", "", func() error {
		if claimed, next, err = s.Store.Claim(ctx, claim); err == nil {
			s.leases.claimed(claim, claimed)
		}
		return err
	})
	return claimed, next, err
}

// Extend implements payments.Store.
func (s *stepStore) Extend(
	ctx context.Context, leases map[moneymovement.Key]payments.Lease, d time.Duration,
) (lost []moneymovement.Key, err error) {
	err = s.call(ctx, "leases", "extend", strconv.Itoa(len(leases)), func() error {
		if lost, err = s.Store.Extend(ctx, leases, d); err == nil {
			s.leases.extended(leases, lost, d)
		}
		return err
	})
	return lost, err
}

// Save implements payments.Store.
func (s *stepStore) Save(
	ctx context.Context, claimed payments.Claimed, release bool,
) (at payments.Position, err error) {
	text, err := claimed.Encode()
	if err != nil {
		return "", err
	}
	err = s.call(ctx, string(claimed.Key), "save", string(claimed.State)+" "+digest(text)+" ", func() error {
		if at, err = s.Store.Save(ctx, claimed, release); err == nil {
			s.saved(claimed.Key)
			s.leases.wrote(claimed, release)
		}
		return err
	})
	return at, err
}

// Postpone implements payments.Store.
func (s *stepStore) Postpone(ctx context.Context, claimed payments.Claimed) error {
	return s.call(ctx, string(claimed.Key), "postpone", "", func() error {
		err := s.Store.Postpone(ctx, claimed)
		if err == nil {
			s.leases.wrote(claimed, true)
		}
		return err
	})
}

// List implements payments.Store.
func (s *stepStore) List(ctx context.Context, list payments.List) (records []payments.Record, err error) {
	err = s.call(ctx, "rows", "list", "", func() error {
		records, err = s.Store.List(ctx, list)
		return err
	})
	return records, err
}

// Summary implements payments.Store.
func (s *stepStore) Summary(ctx context.Context) (found payments.Summary, err error) {
	err = s.call(ctx, "rows", "summary", "", func() error {
		found, err = s.Store.Summary(ctx)
		return err
	})
	return found, err
}

// leaseBook holds what the leases of a store must be, by the calls that it has returned.
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
