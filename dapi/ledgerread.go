package dapi

import (
	"cmp"
	"context"
	"iter"
	"math"
	"net/http"
	"slices"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// follower finds the changes of a ledger, read by read.
type follower struct {
	low                lowLevel
	entries            iter.Seq2[Transaction, error] // reads the ledger anew each time
	now                func() time.Time              // by the service's clock
	known              *ledgerState
	lateBy, pendingFor time.Duration
	maxChanges         int // of one read

	newestOnly   bool // the next read does not go back to old entries that are pending
	fullReadAt   time.Time
	fullReadTook time.Duration
}

// ledgerRead is the result of one read of the ledger.
type ledgerRead struct {
	changes  []TransactionChange // the oldest first, without their positions
	complete bool                // all changes are in the list
	at       time.Time           // by the service's clock
}

// The bounds of a read. Changes are found in any order. When there are twice as many as the bound, the newest are
// dropped.
const (
	ledgerPageSize    = 100
	maxChangesPerRead = 20_000
)

func (s *Transactions) follower(
	ctx context.Context, params ChangesParams, options []moneymovement.CallOption,
) (*follower, error) {
	if err := s.low.ready(ctx, &opListTransactions); err != nil {
		return nil, err
	}
	known, account := params.Position.state(), s.low.actingFor()
	err := transport.Validate(opListTransactions.ID, func(c *transport.Check) {
		if known.Account != "" && known.Account != account {
			c.Refuse("position", "other_account", "belongs to "+known.Account+": store one position for each account")
		}
		if params.LateBy < 0 {
			c.Refuse("lateBy", "negative", "must not be negative")
		}
		if params.PendingFor < 0 {
			c.Refuse("pendingFor", "negative", "must not be negative")
		}
	})
	if err != nil {
		return nil, err
	}
	known.Account = account
	return &follower{
		low: s.low, known: known, now: s.low.transport.ServiceNow,
		entries: s.upTo(ctx, math.MaxInt, ListTransactionsParams{Limit: ledgerPageSize}, options),
		lateBy:  cmp.Or(params.LateBy, defaultLateBy), pendingFor: cmp.Or(params.PendingFor, defaultPendingFor),
		maxChanges: maxChangesPerRead,
	}, nil
}

// read reads the ledger from its newest entry back to the entries that cannot have changed.
func (f *follower) read() (*ledgerRead, error) {
	l := runningRead{follower: f, changes: map[TransactionID]TransactionChange{}, ranks: map[TransactionID]int{},
		pending: map[TransactionID]Transaction{}}
	floor := f.floor()
	var before *Transaction
	for entry, err := range f.entries {
		if err != nil {
			return nil, err
		}
		if entry.ID == "" || entry.CreatedAt.IsZero() {
			return nil, &errors.UnexpectedResponse{CallInfo: f.low.head(&opListTransactions, string(entry.ID)),
				Status: http.StatusOK, Err: errNotFollowed}
		}
		l.add(entry)
		// Stop at an old entry only if the list has the newest entries first.
		if entry.CreatedAt.Before(floor) && before != nil && before.CreatedAt.After(entry.CreatedAt) {
			break
		}
		before = &entry
	}
	return l.result(f.now()), nil
}

var errNotFollowed = errors.New("a ledger entry has no id or no time of creation: it cannot be followed")

// floor is the time at which a read may stop. No entry appears later than lateBy, so entries created before this time
// cannot have changed.
func (f *follower) floor() time.Time {
	floor := f.known.Edge
	if !f.newestOnly {
		for _, entry := range f.known.Pending {
			if entry.Created.Before(floor) {
				floor = entry.Created
			}
		}
	}
	return floor.Add(-f.lateBy)
}

// runningRead is a read of the ledger that is not complete yet.
type runningRead struct {
	*follower
	changes map[TransactionID]TransactionChange
	ranks   map[TransactionID]int         // the order in which they were found
	order   int                           // of the last one
	pending map[TransactionID]Transaction // pending entries that have not changed
	newest  time.Time
	dropped bool
}

// add records an entry if it has changed. If pages shift and an entry comes twice, the first one counts.
func (l *runningRead) add(entry Transaction) {
	if entry.CreatedAt.After(l.newest) {
		l.newest = entry.CreatedAt
	}
	if _, again := l.changes[entry.ID]; again {
		return
	}
	before, watched := l.known.Pending[entry.ID]
	settled, known := l.known.Settled[digestOf(entry.ID)]
	switch {
	case watched && before.Status == entry.Status:
		l.pending[entry.ID] = entry
	case watched:
		l.record(entry, before.Status)
	case known && settled.Status == entry.Status:
	case known:
		l.record(entry, settled.Status)
	case !entry.CreatedAt.Before(l.known.Edge):
		l.record(entry, "")
	}
}

func (l *runningRead) record(entry Transaction, previous TransactionStatus) {
	l.order++
	l.ranks[entry.ID] = l.order
	l.changes[entry.ID] = TransactionChange{Transaction: entry, Previous: previous}
	if len(l.changes) == 2*l.maxChanges {
		l.dropped = true
		for _, newest := range l.sorted()[l.maxChanges:] {
			delete(l.changes, newest.Transaction.ID)
			delete(l.ranks, newest.Transaction.ID)
		}
	}
}

// sorted returns the changes in the order of their creation. If the times are equal, the entry that the ledger lists
// last comes first.
func (l *runningRead) sorted() []TransactionChange {
	changes := make([]TransactionChange, 0, len(l.changes))
	for _, change := range l.changes {
		changes = append(changes, change)
	}
	slices.SortFunc(changes, func(a, b TransactionChange) int {
		return cmp.Or(a.Transaction.CreatedAt.Compare(b.Transaction.CreatedAt),
			l.ranks[b.Transaction.ID]-l.ranks[a.Transaction.ID])
	})
	return changes
}

// result returns the result of the read. now is the service's time.
func (l *runningRead) result(now time.Time) *ledgerRead {
	if l.newest.After(now) {
		l.newest = now
	}
	l.abandon()
	changes := l.sorted()
	if len(changes) > l.maxChanges {
		changes, l.dropped = changes[:l.maxChanges], true
	}
	for i, change := range changes {
		entry := change.Transaction
		changes[i].LastChange = change.LastChange || !entry.Status.Final() && l.tooOld(entry.CreatedAt)
	}
	return &ledgerRead{changes: changes, complete: !l.dropped, at: now}
}

// tooOld reports whether an entry has been pending for too long.
func (l *runningRead) tooOld(created time.Time) bool {
	return created.Before(l.newest.Add(-l.pendingFor))
}

// abandon reports a last change for known entries that have not changed and have been pending for too long. If there
// are too many pending entries, it does the same for the oldest.
func (l *runningRead) abandon() {
	if l.newestOnly {
		return
	}
	excess := len(l.known.Pending) - maxPendingKept
	for _, id := range l.known.oldestPending() {
		before := l.known.Pending[id]
		if _, changed := l.changes[id]; changed {
			continue
		}
		if excess--; excess < 0 && !l.tooOld(before.Created) {
			return
		}
		entry, listed := l.pending[id]
		if !listed {
			entry = Transaction{ID: id, CreatedAt: before.Created, Status: before.Status}
		}
		l.changes[id] = TransactionChange{Transaction: entry, Previous: before.Status, LastChange: true}
	}
}

// oldestPending returns the pending entries, the oldest first.
func (k *ledgerState) oldestPending() []TransactionID {
	ids := make([]TransactionID, 0, len(k.Pending))
	for id := range k.Pending {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, func(a, b TransactionID) int {
		return cmp.Or(k.Pending[a].Created.Compare(k.Pending[b].Created), cmp.Compare(a, b))
	})
	return ids
}
