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

// follower finds the changes of a ledger, look by look.
type follower struct {
	low                lowLevel
	entries            iter.Seq2[Transaction, error] // reads the ledger anew each time
	now                func() time.Time              // by the service's clock
	known              *ledgerState
	lateBy, pendingFor time.Duration
	most               int // changes of a look

	shallow  bool // the next look does not go back to old entries that are pending
	deepAt   time.Time
	deepTook time.Duration
}

// ledgerLook is the result of one look at the ledger.
type ledgerLook struct {
	changes  []TransactionChange // the oldest first, without their positions
	complete bool                // all changes are in the list
	at       time.Time           // by the service's clock
}

// The bounds of a look. Changes are found in any order. When there are twice as many as the bound, the newest are
// dropped.
const (
	ledgerPageSize    = 100
	maxChangesOfALook = 20_000
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
		most: maxChangesOfALook,
	}, nil
}

// look reads the ledger from its newest entry back to the entries that cannot have changed.
func (f *follower) look() (*ledgerLook, error) {
	l := looking{follower: f, found: map[TransactionID]TransactionChange{}, ranks: map[TransactionID]int{},
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
		l.take(entry)
		// Stop at an old entry only if the list has the newest entries first.
		if entry.CreatedAt.Before(floor) && before != nil && before.CreatedAt.After(entry.CreatedAt) {
			break
		}
		before = &entry
	}
	return l.ended(f.now()), nil
}

var errNotFollowed = errors.New("a ledger entry has no id or no time of creation: it cannot be followed")

// floor is the time at which a look may stop. No entry appears later than lateBy, so entries created before this time
// cannot have changed.
func (f *follower) floor() time.Time {
	floor := f.known.Edge
	if !f.shallow {
		for _, entry := range f.known.Pending {
			if entry.Created.Before(floor) {
				floor = entry.Created
			}
		}
	}
	return floor.Add(-f.lateBy)
}

// looking is a look that is running.
type looking struct {
	*follower
	found   map[TransactionID]TransactionChange
	ranks   map[TransactionID]int         // the order in which they were found
	order   int                           // of the last one
	pending map[TransactionID]Transaction // pending entries that have not changed
	newest  time.Time
	dropped bool
}

// take records an entry if it has changed. If pages shift and an entry comes twice, the first one counts.
func (l *looking) take(entry Transaction) {
	if entry.CreatedAt.After(l.newest) {
		l.newest = entry.CreatedAt
	}
	if _, again := l.found[entry.ID]; again {
		return
	}
	before, watched := l.known.Pending[entry.ID]
	settled, known := l.known.Settled[digestOf(entry.ID)]
	switch {
	case watched && before.Status == entry.Status:
		l.pending[entry.ID] = entry
	case watched:
		l.note(entry, before.Status)
	case known && settled.Status == entry.Status:
	case known:
		l.note(entry, settled.Status)
	case !entry.CreatedAt.Before(l.known.Edge):
		l.note(entry, "")
	}
}

func (l *looking) note(entry Transaction, previous TransactionStatus) {
	l.order++
	l.ranks[entry.ID] = l.order
	l.found[entry.ID] = TransactionChange{Transaction: entry, Previous: previous}
	if len(l.found) == 2*l.most {
		l.dropped = true
		for _, newest := range l.sorted()[l.most:] {
			delete(l.found, newest.Transaction.ID)
			delete(l.ranks, newest.Transaction.ID)
		}
	}
}

// sorted returns the changes in the order of their creation. If the times are equal, the entry that the ledger lists
// last comes first.
func (l *looking) sorted() []TransactionChange {
	changes := make([]TransactionChange, 0, len(l.found))
	for _, change := range l.found {
		changes = append(changes, change)
	}
	slices.SortFunc(changes, func(a, b TransactionChange) int {
		return cmp.Or(a.Transaction.CreatedAt.Compare(b.Transaction.CreatedAt),
			l.ranks[b.Transaction.ID]-l.ranks[a.Transaction.ID])
	})
	return changes
}

// ended returns the result of the look. now is the service's time.
func (l *looking) ended(now time.Time) *ledgerLook {
	if l.newest.After(now) {
		l.newest = now
	}
	l.abandon()
	changes := l.sorted()
	if len(changes) > l.most {
		changes, l.dropped = changes[:l.most], true
	}
	for i, change := range changes {
		entry := change.Transaction
		changes[i].LastLook = change.LastLook || !entry.Status.Final() && l.tooOld(entry.CreatedAt)
	}
	return &ledgerLook{changes: changes, complete: !l.dropped, at: now}
}

// tooOld reports whether an entry has been pending for too long.
func (l *looking) tooOld(created time.Time) bool { return created.Before(l.newest.Add(-l.pendingFor)) }

// abandon reports a last look for known entries that have not changed and have been pending for too long. If there are
// too many pending entries, it does the same for the oldest.
func (l *looking) abandon() {
	if l.shallow {
		return
	}
	excess := len(l.known.Pending) - maxPendingKept
	for _, id := range l.known.oldestPending() {
		before := l.known.Pending[id]
		if _, changed := l.found[id]; changed {
			continue
		}
		if excess--; excess < 0 && !l.tooOld(before.Created) {
			return
		}
		entry, listed := l.pending[id]
		if !listed {
			entry = Transaction{ID: id, CreatedAt: before.Created, Status: before.Status}
		}
		l.found[id] = TransactionChange{Transaction: entry, Previous: before.Status, LastLook: true}
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
