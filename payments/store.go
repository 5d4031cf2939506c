package payments

import (
	"context"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/internal/errorbase"
)

// Position says how far a reader has come in the changes of a store. The zero value is the beginning. It is made by the
// store, and only means something there.
type Position string

// Work is a class of due payments. A store returns each class on its own, so that paid payments are followed and those
// in doubt are settled, however many new payments wait.
type Work int

// The classes of work.
const (
	WorkNone   Work = iota // nothing is due
	WorkBegin              // a payment for which no call was begun
	WorkAgain              // a payment that was begun, and is not known to be paid
	WorkFollow             // a payment that is paid, and has not arrived
)

// Lease is the right to change a payment until it ends. The epoch rises with each claim of a payment, and never falls:
// a process that has lost its lease cannot change the payment any more.
type Lease struct {
	Owner string
	Epoch int64
}

// Claimed is a record with the lease under which it was claimed. Only [Store.Claim] returns it, so that a reader cannot
// save under the lease of somebody else.
type Claimed struct {
	Record
	Lease Lease
}

// Claim asks a store for due payments.
type Claim struct {
	// Owner names the process that claims.
	Owner string
	// Key claims this payment alone, due or not. Work and Limit then do not matter.
	Key moneymovement.Key
	// Work is the class of payments to claim.
	Work Work
	// Limit is how many payments to claim at most.
	Limit int
	// Now is the time of the process. Payments are due by it. A store that several machines share may use its own
	// clock.
	Now time.Time
	// For is how long the leases last, by the store's clock.
	For time.Duration
}

// List asks a store for payments.
type List struct {
	// States limits the payments to these states. Empty is all.
	States []moneymovement.PaymentState
	// Account limits the payments to one account, if ByAccount is true.
	Account   dapi.ClientID
	ByAccount bool
	// After is the key after which to go on, in the order of keys. Empty is the beginning.
	After moneymovement.Key
	// Limit is how many payments to return at most. It is positive.
	Limit int
}

// Summary counts the payments of a store.
type Summary struct {
	// ByState is how many payments are in each state.
	ByState map[moneymovement.PaymentState]int
	// OldestDue is the earliest time at which any work is due. It is zero if no work is left.
	OldestDue time.Time
	// RestoredFrom is when the copy was made from which the store was restored: see [Processor.MarkRestored]. It is
	// zero if the store was not restored, or if that has ended.
	RestoredFrom time.Time
}

// Store keeps payments. Package payments has one in memory, [NewMemoryStore]. Modules payments/sqlite and
// payments/postgres have durable ones. Package payments/storetest tests a store.
//
// A store keeps the text of a record, which [Record.Encode] writes and [Decode] reads. Beside the text, it keeps what
// it searches by: the key, the account, the state, the work, and the due time, rounded up to the microsecond. It sets
// Due and Position of each record that it returns. For a text that cannot be read, it returns what Decode returns, so
// that the other payments go on: see [Record.Err].
//
// A Store must be safe for concurrent use. It shares no memory with its arguments and results. Insert and Save return
// when what they wrote survives a crash of the process and a loss of power. After an error that is not named here, the
// payment may or may not have changed. If the context has ended before the call, nothing is changed, and the error
// wraps that of the context.
//
// A store keeps tallies of what payments count against caps. When it stores a record with a Count, it adds what
// [Record.Recount] returns, in the same transaction. Between the sums of Recount and the end of the transaction, no
// other one changes a tally.
//
// A lease belongs to its payment, even after its end, until it is released or another claim replaces it. If one process
// has the store for itself, its leases end with the process.
type Store interface {
	// Insert stores a record under a key that is new, and returns it with its position and true. If the key is there,
	// it returns the stored record and false, and changes nothing. If the record would pass a cap, it stores and
	// returns [Record.OverCap].
	Insert(ctx context.Context, record Record) (stored Record, inserted bool, err error)
	// Load returns the record of a key. If there is none, the error is *[NotFound].
	Load(ctx context.Context, key moneymovement.Key) (Record, error)
	// List returns records in the order of their keys.
	List(ctx context.Context, list List) ([]Record, error)
	// Changes returns at most limit records that were changed after a position, in the order of their changes. A record
	// that changed several times is returned once, as it is now. The position of a change is later than every position
	// that was returned before the change was committed, even if transactions overlap. So a reader misses no change. If
	// the position is not one of this store, the error is *[BadPosition].
	Changes(ctx context.Context, after Position, limit int) ([]Record, error)
	// Claim leases due payments that no other lease holds, and returns them. Payments of WorkBegin come in turns: one
	// of each account, then the next of each account, in the order of their inserts. Those of other classes come in the
	// order in which they are due. A payment whose lease has ended can be claimed. next is when the next payment of the
	// class without a lease is due, and zero if there is none. It can be in the past if the limit was reached. With
	// Key, the error is *[NotFound] if there is no such payment, and *[CallInProgress] if another lease holds it.
	// Without Key, Claim leaves out payments that need a later [RecordVersion], also for next: they wait for a newer
	// program.
	Claim(ctx context.Context, claim Claim) (claimed []Claimed, next time.Time, err error)
	// Extend makes leases end at a time d from now, also those that have ended and were not replaced. It returns the
	// keys of those that were replaced or released.
	Extend(
		ctx context.Context, leases map[moneymovement.Key]Lease, d time.Duration,
	) (lost []moneymovement.Key, err error)
	// Save stores a claimed record, and releases its lease if release is true. If the lease is no longer the payment's,
	// it changes nothing, and the error is *[LeaseLost]. If the record would pass a cap, it changes nothing, and the
	// error is *[CapReached].
	Save(ctx context.Context, claimed Claimed, release bool) (Position, error)
	// Postpone changes only the due time of a claimed record, and releases its lease. It may be lost in a
	// crash, and Changes does not return it. If the lease is no longer the payment's, the error is *[LeaseLost].
	Postpone(ctx context.Context, claimed Claimed) error
	// Summary counts the payments.
	Summary(ctx context.Context) (Summary, error)
	// MarkRestored says that the store was restored from a copy, which was made at a time. In one transaction it stores
	// what [Record.Restored] returns for each payment, and takes the leases of those that differ. From then on, Insert
	// stores and returns what Restored returns for a new record. A later time than that of an earlier call does not
	// replace it. The zero time ends this: what is stored stays, and Insert stores records as they are.
	MarkRestored(ctx context.Context, since time.Time) error
}

// NotFound says that a store has no payment with this key.
type NotFound struct{ Key moneymovement.Key }

// Error returns one line, safe to log.
func (e *NotFound) Error() string {
	return errorbase.Textf(e, "no payment with the key %q is stored", e.Key)
}

// LeaseLost says that a process may not change a payment any more: its lease has ended, and another process has claimed
// the payment. Nothing was changed. The other process goes on with the payment.
type LeaseLost struct {
	Key   moneymovement.Key
	Lease Lease
}

// Error returns one line, safe to log.
func (e *LeaseLost) Error() string {
	return errorbase.Textf(e, "payment %q: the lease of %s (epoch %d) has ended, and another process goes on with it",
		e.Key, e.Lease.Owner, e.Lease.Epoch)
}

// CallInProgress says that a call is being made for a payment right now. Try again when it has ended.
type CallInProgress struct{ Key moneymovement.Key }

// Error returns one line, safe to log.
func (e *CallInProgress) Error() string {
	return errorbase.Textf(e, "payment %q: a call is being made for it; try again when it has ended", e.Key)
}

// BadPosition says that a position was not made by this store.
type BadPosition struct{ Position Position }

// Error returns one line, safe to log.
func (e *BadPosition) Error() string {
	return errorbase.Textf(e, "%q is not a position of this store: pass one that Watch returned, or the zero value",
		e.Position)
}

// Unreadable says that a stored payment cannot be read: it is damaged, or a newer version wrote it. Nothing is done
// with it. Update the module, or restore the store from a backup and reconcile it with the ledger.
type Unreadable struct {
	Key moneymovement.Key
	// Newer says that nothing is wrong: the payment needs a newer version of the module, which goes on with it.
	Newer bool
	Err   error
}

// Error returns one line, safe to log.
func (e *Unreadable) Error() string {
	if e.Newer {
		return errorbase.Textf(e, "the stored payment %q is left alone: %v", e.Key, e.Err)
	}
	return errorbase.Textf(e, "the stored payment %q cannot be read, and is left alone: %v", e.Key, e.Err)
}

// Unwrap returns Err.
func (e *Unreadable) Unwrap() error { return e.Err }
