package dapi

import (
	"context"
	"iter"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// TransactionChange is a ledger entry that is new or has another status.
type TransactionChange struct {
	// Transaction is the entry as it stands now.
	Transaction Transaction
	// Previous is the status that was delivered before. It is empty if the entry was not delivered before.
	Previous TransactionStatus
	// LastLook says that the entry is not looked at again, although it has not settled: it was created more than
	// [ChangesParams].PendingFor before the newest entry. Look at its payout, payin or deal in place of it. If the ledger
	// no longer lists the entry, then Transaction has only ID, CreatedAt and Status.
	LastLook bool
	// Position is where to go on after this change. Store it when the change is dealt with.
	Position LedgerPosition
}

// ChangesParams says which changes of a ledger to deliver. Positive durations; 0 is the default.
type ChangesParams struct {
	// Position is that of the last change that was dealt with. The zero value delivers the whole ledger, and
	// [LedgerPositionAt] what was created since a time.
	Position LedgerPosition
	// LateBy is how much later than its CreatedAt an entry may appear in the ledger; 1 hour by default. An entry that
	// appears later than that, behind newer ones which were delivered, is not delivered.
	LateBy time.Duration
	// PendingFor is how long an entry that has not settled is looked at; 30 days by default. See
	// [TransactionChange].LastLook.
	PendingFor time.Duration
}

const (
	defaultLateBy     = time.Hour
	defaultPendingFor = 30 * 24 * time.Hour
)

// Changes delivers what has changed in the ledger since a position, and ends: new entries, and entries with another
// status, such as a payout that was `pending` and is `completed` or `failed`. Use it in a job that runs now and then;
// [Transactions.Follow] waits for more.
//
//	for change, err := range account.Transactions.Changes(ctx, dapi.ChangesParams{Position: stored}) {
//		if err != nil {
//			return err // later, go on from the position that was stored
//		}
//		if err := rows.Save(change.Transaction, change.Position); err != nil { // in one step
//			return err
//		}
//	}
//
// Delivery. Each change is delivered once for each position. A program that crashes before it stores the position of a
// change gets that change again, so make the work repeatable: use the entry's id as the key. A program that stores both
// in one database transaction handles each change once. A status that came and went between two reads is not delivered.
//
// Order. The changes of one look at the ledger come in the order of CreatedAt, the oldest first. Of entries with the same
// time, the one that the ledger lists last comes first. Each status of an entry comes after the one before.
//
// Cost. The description of the service shows no way to ask for changes, so the ledger is read from its newest entry back
// to the oldest entry that is pending, 100 entries a read. It is assumed that the ledger lists the newest entry first. A
// list in the opposite order is read to its end. Pages may shift while they are read: an entry that comes twice is
// delivered once, and one that falls between two pages is found by the next look, for as long as LateBy says. At most
// 40,000 changes are held in memory; if there are more, the ledger is read again from the start for the rest.
//
// An error ends the changes, and the position of the last change stays good. A position of another account is
// *errors.InvalidInput, and an entry without id or time is *errors.UnexpectedResponse: it cannot be followed.
func (s *Transactions) Changes(
	ctx context.Context, params ChangesParams, options ...moneymovement.CallOption,
) iter.Seq2[TransactionChange, error] {
	return func(yield func(TransactionChange, error) bool) {
		f, err := transport.Of(s).follower(ctx, params, options)
		if err != nil {
			yield(TransactionChange{}, err)
			return
		}
		f.catchUp(yield)
	}
}

// catchUp delivers all changes that there are.
func (f *follower) catchUp(yield func(TransactionChange, error) bool) {
	for complete := false; !complete; {
		found, err := f.look()
		if err != nil {
			yield(TransactionChange{}, err)
			return
		}
		if !f.deliver(found, yield) {
			return
		}
		complete = found.complete
	}
}

// Follow delivers changes as [Transactions.Changes] does, and then waits for more until ctx ends. The last error is then
// that of ctx. It looks at the ledger as often as [PollEvery] says: by default after half a second, and less often, up to
// every 15 seconds, while nothing changes. Looks are reads of a wait, which leave room in the rate window for others.
// A failed look is repeated as in the other waits. [OnProgress] reports each look.
//
// A look that also covers an old entry which is still pending reads all pages back to it. Such looks take at most a tenth
// of the time. Those in between cover what is new and what was created in the last LateBy.
func (s *Transactions) Follow(
	ctx context.Context, params ChangesParams, options ...WaitOption,
) iter.Seq2[TransactionChange, error] {
	return func(yield func(TransactionChange, error) bool) {
		reading := &Transactions{transport.Of(s).low.as(transport.ClassPoll)}
		f, err := reading.follower(ctx, params, nil)
		w := waiting{progress: func(Progress) {}}
		transport.Apply(&w, options)
		for err == nil {
			var found *ledgerLook
			if found, err = f.await(ctx, options); err != nil {
				break
			}
			if !f.deliver(found, yield) {
				return
			}
			if found.complete {
				err = transport.Pause(ctx, f.low.transport.Polling(w.pace).Least)
			}
		}
		if ended, ok := errors.AsType[*StillPending](err); ok {
			err = ended.Err
		}
		yield(TransactionChange{}, err)
	}
}

// await looks until something has changed.
func (f *follower) await(ctx context.Context, options []WaitOption) (*ledgerLook, error) {
	return wait(ctx, options, poll[ledgerLook]{
		low: f.low, operation: &opListTransactions, resource: "ledger", id: f.low.actingFor(),
		read: func(context.Context) (*ledgerLook, error) {
			f.shallow = time.Since(f.deepAt) < deepLooksOneIn*f.deepTook
			began := time.Now()
			found, err := f.look()
			if err == nil && !f.shallow {
				f.deepAt, f.deepTook = time.Now(), time.Since(began)
			}
			return found, err
		},
		status: func(found *ledgerLook) string {
			if len(found.changes) == 0 {
				return "unchanged"
			}
			return "changed"
		},
		done: func(found *ledgerLook) bool { return len(found.changes) > 0 },
	})
}

// deepLooksOneIn is the part of the time that looks back to old entries may take.
const deepLooksOneIn = 10

// deliver hands over what a look has found, and goes on from there. It returns false if nobody wants more.
func (f *follower) deliver(found *ledgerLook, yield func(TransactionChange, error) bool) bool {
	position := LedgerPosition{base: f.known, then: make([]ledgerStep, 0, len(found.changes))}
	for _, change := range found.changes {
		position.then = append(position.then, f.step(found, change))
		change.Position = position
		if !yield(change, nil) {
			return false
		}
	}
	f.known = position.state()
	return true
}

// step is what a position learns from a change. Entries are looked for from LateBy before the newest that was delivered,
// but not from one in the future, which would hide all that come until then.
func (f *follower) step(found *ledgerLook, change TransactionChange) ledgerStep {
	entry := change.Transaction
	newest := entry.CreatedAt
	if newest.After(found.at) {
		newest = found.at
	}
	return ledgerStep{
		id: entry.ID, created: entry.CreatedAt, status: entry.Status,
		watched: !entry.Status.Final() && !change.LastLook, edge: newest.Add(-f.lateBy),
	}
}
