package sqlite

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/payments"
)

// Claim implements [payments.Store].
//
// A row is leased first and read then, so that it is read as the holder of the lease before has left it.
func (s *Store) Claim(
	ctx context.Context, claim payments.Claim,
) (claimed []payments.Claimed, next time.Time, err error) {
	if err := s.checkUsable(ctx); err != nil {
		return nil, time.Time{}, err
	}
	if claim.Key != "" {
		claimed, err := s.claimKey(ctx, claim)
		return claimed, time.Time{}, err
	}
	defer func() {
		if err != nil { // nothing is returned
			for _, one := range claimed {
				s.leases.release(one.Key, one.Lease)
			}
			claimed, next = nil, time.Time{}
		}
	}()
	for {
		candidates, err := s.candidates(ctx, claim, claim.Limit-len(claimed))
		if err != nil {
			return claimed, next, err
		}
		again := false // a row that changed after the search, in which another one may be due now
		for i, candidate := range candidates {
			row, err := s.loadLeased(ctx, candidate)
			if err != nil {
				for _, other := range candidates[i+1:] {
					s.leases.release(other.key, other.lease)
				}
				return claimed, next, err
			}
			record := row.record()
			if needsNewer(&record) {
				s.leases.leave(row.key, candidate.lease)
				again = true
				continue
			}
			if row.work != claim.Work || toTime(row.due).After(claim.Now) {
				s.leases.release(row.key, candidate.lease)
				again = true
				continue
			}
			claimed = append(claimed, payments.Claimed{Record: record, Lease: candidate.lease})
			if claim.Work == payments.WorkBegin {
				s.advanceTurn(candidate.turn)
			}
		}
		if !again {
			next, err = s.next(ctx, claim.Work)
			return claimed, next, err
		}
	}
}

func (s *Store) claimKey(ctx context.Context, claim payments.Claim) ([]payments.Claimed, error) {
	lease, ok := s.leases.acquire(claim.Key, claim.Owner, claim.For)
	if !ok {
		return nil, &payments.CallInProgress{Key: claim.Key}
	}
	row, err := s.loadLeased(ctx, candidate{key: claim.Key, lease: lease})
	if err != nil {
		return nil, err
	}
	return []payments.Claimed{{Record: row.record(), Lease: lease}}, nil
}

// needsNewer reports a record that needs a newer program.
func needsNewer(record *payments.Record) bool {
	var unreadable *payments.Unreadable
	return errors.As(record.Err(), &unreadable) && unreadable.Newer
}

// candidate is a due row that is leased.
type candidate struct {
	key   moneymovement.Key
	turn  int64
	lease payments.Lease
}

// loadLeased reads a row that is leased. If it cannot, it releases the lease.
func (s *Store) loadLeased(ctx context.Context, c candidate) (row, error) {
	leased, err := s.load(ctx, c.key)
	if err != nil {
		s.leases.release(c.key, c.lease)
		return row{}, err
	}
	s.leases.setRow(&leased, c.lease)
	return leased, nil
}

// advanceTurn stores the turn that was claimed last. New accounts begin with it.
func (s *Store) advanceTurn(turn int64) {
	for {
		last := s.turn.Load()
		if turn <= last || s.turn.CompareAndSwap(last, turn) {
			return
		}
	}
}

const (
	inTurns = "SELECT key, turn FROM payments WHERE work = 1 AND due <= ? ORDER BY turn, key"
	byDue   = "SELECT key, 0 FROM payments WHERE work <> 0 AND work = ? AND due <= ? ORDER BY due, key"
	allDue  = "SELECT key, due FROM payments WHERE work <> 0 AND work = ? ORDER BY due, key"
)

// candidates leases rows that are due. It reads the indexes alone, and no more of them than it needs.
func (s *Store) candidates(ctx context.Context, claim payments.Claim, limit int) (candidates []candidate, err error) {
	if limit <= 0 {
		return nil, nil
	}
	text, args := byDue, []any{claim.Work, claim.Now.UnixMicro()}
	if claim.Work == payments.WorkBegin {
		text, args = inTurns, args[1:]
	}
	err = s.each(ctx, text, args, func(key moneymovement.Key, turn int64) bool {
		if s.leases.isLeft(key) {
			return true
		}
		if lease, ok := s.leases.acquire(key, claim.Owner, claim.For); ok {
			candidates = append(candidates, candidate{key, turn, lease})
		}
		return len(candidates) < limit
	})
	if err != nil {
		for _, c := range candidates {
			s.leases.release(c.key, c.lease)
		}
		return nil, err
	}
	return candidates, nil
}

// next returns when the first row of a class is due that no lease holds.
func (s *Store) next(ctx context.Context, work payments.Work) (next time.Time, err error) {
	err = s.each(ctx, allDue, []any{work}, func(key moneymovement.Key, due int64) bool {
		if s.leases.free(key) && !s.leases.isLeft(key) {
			next = toTime(due)
			return false
		}
		return true
	})
	return next, err
}

// each calls a function with the rows of a query, until it returns false.
func (s *Store) each(
	ctx context.Context, text string, args []any, call func(moneymovement.Key, int64) bool,
) error {
	rows, err := s.readers.query(ctx, text, args...)
	if err != nil {
		return s.readError(ctx, err)
	}
	defer rows.Close()
	for rows.Next() {
		var key moneymovement.Key
		var number int64
		if err := rows.Scan(&key, &number); err != nil {
			return s.readError(ctx, err)
		}
		if !call(key, number) {
			return nil
		}
	}
	return s.readError(ctx, rows.Err())
}

// Extend implements [payments.Store].
func (s *Store) Extend(
	ctx context.Context, leases map[moneymovement.Key]payments.Lease, d time.Duration,
) (lost []moneymovement.Key, err error) {
	if err := s.checkOpen(ctx); err != nil {
		return nil, err
	}
	for key, lease := range leases {
		if !s.leases.extend(key, lease, d) {
			lost = append(lost, key)
		}
	}
	slices.Sort(lost)
	return lost, nil
}

// leases are who may change which row. They end with the process, and so they need no disk.
type leases struct {
	mu    sync.Mutex
	byKey map[moneymovement.Key]*lease
	epoch int64 // of the last lease
	// left are the rows that need a newer program. Nobody changes them while this process has the file. The file itself
	// does not say so beside the record: a column for it would keep programs out that do not know the column.
	left map[moneymovement.Key]bool
}

type lease struct {
	payments.Lease
	until time.Time
	// writing means that a transaction changes the row under this lease: until it has ended, nobody else may lease the
	// row, because a reader could still see it as it was.
	writing bool
	// releasing means that this transaction releases the lease.
	releasing bool
	// taken is the lease that this transaction has taken from its holder. It is nobody's, and comes back if the
	// transaction is rolled back.
	taken *lease
	// account and due are the row's, as far as it is stored.
	account dapi.ClientID
	due     int64 // in microseconds
}

// epochBits is how many leases a store can make each time it is opened, as a power of two. The bits above are how often
// it was opened, so that epochs rise over restarts.
const epochBits = 40

func newLeases(opened int64) *leases {
	return &leases{byKey: map[moneymovement.Key]*lease{}, epoch: opened << epochBits,
		left: map[moneymovement.Key]bool{}}
}

// free reports whether no lease holds a row.
func (l *leases) free(key moneymovement.Key) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.byKey[key].held()
}

func (l *lease) held() bool { return l != nil && (l.writing || time.Now().Before(l.until)) }

// acquire leases a row, if it is free.
func (l *leases) acquire(key moneymovement.Key, owner string, lasts time.Duration) (payments.Lease, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.byKey[key].held() {
		return payments.Lease{}, false
	}
	l.epoch++
	acquired := &lease{Lease: payments.Lease{Owner: owner, Epoch: l.epoch}, until: time.Now().Add(lasts)}
	l.byKey[key] = acquired
	return acquired.Lease, true
}

// setRow stores what the row of a lease says.
func (l *leases) setRow(r *row, claimed payments.Lease) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for held := l.byKey[r.key]; held != nil; held = held.taken { // one that is taken may come back
		if held.Lease == claimed {
			held.account, held.due = r.account, r.due
		}
	}
}

// current returns the lease of a row, nil if the claimed one is not current. The caller holds the lock.
func (l *leases) current(key moneymovement.Key, claimed payments.Lease) *lease {
	if held := l.byKey[key]; held != nil && held.Lease == claimed && !held.releasing {
		return held
	}
	return nil
}

// release releases a lease, if it is still the row's.
func (l *leases) release(key moneymovement.Key, claimed payments.Lease) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.current(key, claimed) == nil {
		return false
	}
	delete(l.byKey, key)
	return true
}

// leave releases the lease of a row that needs a newer program, and lets no claim of due rows have it again.
func (l *leases) leave(key moneymovement.Key, claimed payments.Lease) {
	l.release(key, claimed)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.left[key] = true
}

// isLeft reports a row that needs a newer program.
func (l *leases) isLeft(key moneymovement.Key) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.left[key]
}

// releaseUnchanged releases a lease if the row is due at this time already.
func (l *leases) releaseUnchanged(key moneymovement.Key, claimed payments.Lease, due int64) (dropped bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	current := l.current(key, claimed)
	if current == nil || current.writing || current.due != due {
		return false
	}
	delete(l.byKey, key)
	return true
}

// extend lets a lease last from now on.
func (l *leases) extend(key moneymovement.Key, claimed payments.Lease, lasts time.Duration) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	current := l.current(key, claimed)
	if current == nil {
		return false
	}
	current.until = time.Now().Add(lasts)
	return true
}

// beginWrite keeps a lease for a transaction, which may release it. It returns the row's account.
func (l *leases) beginWrite(
	key moneymovement.Key, claimed payments.Lease, release bool,
) (account dapi.ClientID, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	current := l.current(key, claimed)
	if current == nil {
		return "", false
	}
	current.writing, current.releasing = true, release
	return current.account, true
}

// endWrite follows beginWrite when the transaction has ended.
func (l *leases) endWrite(key moneymovement.Key, claimed payments.Lease, due int64, release, committed bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	current := l.byKey[key]
	if current == nil || current.Lease != claimed {
		return // a transaction with two saves of the row ends twice
	}
	current.writing, current.releasing = false, false
	if !committed {
		return
	}
	if current.due = due; release {
		delete(l.byKey, key)
	}
}

// take takes the lease of a row from whoever has it, for a transaction that changes the row. Until the transaction has
// ended, nobody can lease the row.
func (l *leases) take(key moneymovement.Key) *lease {
	l.mu.Lock()
	defer l.mu.Unlock()
	takes := &lease{writing: true, releasing: true, taken: l.byKey[key]}
	l.byKey[key] = takes
	return takes
}

// endTake follows take when the transaction has ended. A lease that another take has replaced in the same transaction
// ends with that one.
func (l *leases) endTake(key moneymovement.Key, takes *lease, committed bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.byKey[key] != takes:
	case committed || takes.taken == nil:
		delete(l.byKey, key)
	default:
		l.byKey[key] = takes.taken
	}
}
