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
	// LastLook reports that later changes of this entry are not delivered, although it is still pending. It was created
	// more than [ChangesParams].PendingFor before the newest entry. Read its payout, payin or deal instead. If the
	// ledger no longer lists the entry, Transaction has only ID, CreatedAt and Status.
	LastLook bool
	// Position is the position after this change. Store it when you have handled the change.
	Position LedgerPosition
}

// ChangesParams holds the parameters of [Transactions.Changes] and [Transactions.Follow]. Durations must not be
// negative; 0 means the default.
type ChangesParams struct {
	// Position is the position of the last change that you handled. The zero value delivers the whole ledger.
	// [LedgerPositionAt] delivers the entries that were created since a time.
	Position LedgerPosition
	// LateBy is how long after its CreatedAt an entry may appear in the ledger. The default is 1 hour. An entry that
	// appears even later, behind newer entries that were delivered, is missed. If more than 5,000 entries settle within
	// LateBy, only the time of the last 5,000 is covered.
	LateBy time.Duration
	// PendingFor is how long after its CreatedAt a pending entry is followed. The default is 30 days. See
	// [TransactionChange].LastLook.
	PendingFor time.Duration
}

const (
	defaultLateBy     = time.Hour
	defaultPendingFor = 30 * 24 * time.Hour
)

// Changes returns what has changed in the ledger since a position: new entries, and entries with another status, such
// as a payout that was `pending` and is `completed` or `failed`. It ends when it has returned all changes. Use it in a
// job that runs from time to time. [Transactions.Follow] waits for more changes.
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
// # Delivery
//
// Each change is returned once for each position. If your program stops before it stores the position of a change, it
// gets that change again. So make the work repeatable: use the entry's id as the key. If your program stores both in
// one database transaction, it handles each change once. A status that came and went between two reads is not returned.
//
// # Order
//
// The changes of one read of the ledger come in the order of CreatedAt, the oldest first. If two entries have the same
// time, the one that the ledger lists later comes first. Each status of an entry comes after its earlier one.
//
// # Cost
//
// The service's description shows no call that returns changes. So the SDK reads the ledger from its newest entry back
// to the oldest entry that is pending, 100 entries at a time. It assumes that the ledger lists the newest entry first.
// If the order is the opposite, it reads the whole ledger. Pages may shift while they are read. An entry that is on two
// pages is returned once. An entry that falls between two pages is found by the next read, within the time LateBy. At
// most 40,000 changes are held in memory. If there are more, the SDK reads the ledger again for the rest.
//
// # Errors
//
// An error ends the iteration. The position of the last change is still valid. A position of another account is
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

// catchUp delivers all changes that the ledger has now.
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

// Follow returns changes as [Transactions.Changes] does, and then waits for more until ctx ends. It then yields the
// error of ctx. [moneymovement.PollEvery] sets the pauses between two reads of the ledger. By default they are those of
// the client, and they grow while nothing changes. The reads leave room in the rate window for others, as the reads of
// all waits do. A failed read is repeated as in other waits. [moneymovement.OnProgress] reports each read.
//
// To see whether an old entry is still pending, the SDK must read all pages back to it. Such reads take at most a tenth
// of the time. The reads in between cover new entries, and those that were created within the last LateBy.
func (s *Transactions) Follow(
	ctx context.Context, params ChangesParams, options ...moneymovement.WaitOption,
) iter.Seq2[TransactionChange, error] {
	return func(yield func(TransactionChange, error) bool) {
		reading := &Transactions{transport.Of(s).low.as(moneymovement.ClassPoll)}
		f, err := reading.follower(ctx, params, nil)
		pace := moneymovement.WaitSettingsOf(options...).Polling
		for err == nil {
			var found *ledgerLook
			if found, err = f.await(ctx, options); err != nil {
				break
			}
			if !f.deliver(found, yield) {
				return
			}
			if found.complete {
				err = transport.Pause(ctx, f.low.transport.Polling(pace).Least)
			}
		}
		if ended, ok := errors.AsType[*moneymovement.StillPending](err); ok {
			err = ended.Err
		}
		yield(TransactionChange{}, err)
	}
}

// await reads the ledger until something has changed.
func (f *follower) await(ctx context.Context, options []moneymovement.WaitOption) (*ledgerLook, error) {
	return transport.Awaited[ledgerLook]{
		Client: f.low.transport, Operation: &opListTransactions, Resource: "ledger", ID: f.low.actingFor(),
		Read: func(context.Context) (*ledgerLook, error) {
			f.shallow = time.Since(f.deepAt) < deepLooksOneIn*f.deepTook
			began := time.Now()
			found, err := f.look()
			if err == nil && !f.shallow {
				f.deepAt, f.deepTook = time.Now(), time.Since(began)
			}
			return found, err
		},
		Status: func(found *ledgerLook) string {
			if len(found.changes) == 0 {
				return "unchanged"
			}
			return "changed"
		},
		Done: func(found *ledgerLook) bool { return len(found.changes) > 0 },
	}.Wait(ctx, options)
}

// deepLooksOneIn limits the looks that go back to old entries: they take at most a tenth of the time.
const deepLooksOneIn = 10

// deliver yields the changes that a look has found, and moves the position. It returns false if the caller left the
// loop.
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

// step returns what a position stores about a change. The next look starts LateBy before the newest delivered entry. An
// entry with a time in the future does not count, because it would hide all entries until then.
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
