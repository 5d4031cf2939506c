package payments

import (
	"context"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
)

// Position says how far a reader has come in the changes of a store. The zero value is the beginning. It is made by the
// store, and only means something there.
type Position string

// Work is a class of due payments. A store returns each class on its own, so that paid money is followed and doubts are
// settled however many new payments wait.
type Work int

// The classes of work.
const (
	WorkNone   Work = iota // nothing is due
	WorkBegin              // a payment for which no call was begun
	WorkAgain              // a payment that was begun, and is not known to be paid
	WorkFollow             // a payment that is paid, and has not arrived
)

// Row is a payment as a [Store] keeps it. The store reads the other fields, and keeps Data as it is.
type Row struct {
	Key     moneymovement.Key
	Account dapi.ClientID
	State   State
	Work    Work
	Due     time.Time // of the work; zero without work. A store keeps the microsecond, rounded up, in any zone
	Data    []byte    // the record, as JSON
	// Position is set by the store, anew with each Insert and Save.
	Position Position
	// Lease is the lease under which the row was claimed. It is zero in a row that another method than [Store.Claim]
	// returns, so that a reader cannot save under the lease of somebody else.
	Lease Lease
}

// Lease is the right to change a row until it ends. The epoch rises with each claim of a row, and never falls: a
// process that has lost its lease cannot change the row any more.
type Lease struct {
	Owner string
	Epoch int64
}

// Claim asks a store for due rows.
type Claim struct {
	// Owner names the process that claims.
	Owner string
	// Key claims this row alone, due or not. Work and Limit then do not matter.
	Key moneymovement.Key
	// Work is the class of rows to claim.
	Work Work
	// Limit is how many rows to claim at most. With zero, only Claimed.Next is of use.
	Limit int
	// Now is the time of the process. Rows are due by it. A store that several machines share may use its own clock.
	Now time.Time
	// For is how long the leases last, by the store's clock.
	For time.Duration
}

// Claimed is what a claim returned.
type Claimed struct {
	Rows []Row
	// Next is when the next row of the class is due that was not claimed and is not leased. It is zero if there is
	// none. It can be in the past if the limit was reached.
	Next time.Time
}

// List asks a store for rows.
type List struct {
	// States limits the rows to these states. Empty is all.
	States []State
	// Account limits the rows to one account, if ByAccount is true.
	Account   dapi.ClientID
	ByAccount bool
	// After is the key after which to go on, in the order of keys. Empty is the beginning.
	After moneymovement.Key
	// Limit is how many rows to return at most. It is positive.
	Limit int
}

// Summary counts the payments of a store.
type Summary struct {
	// ByState is how many payments are in each state.
	ByState map[State]int
	// OldestDue is the earliest time at which any work is due. It is zero if no work is left.
	OldestDue time.Time
}

// Store keeps payments. Package payments has one in memory, [NewMemoryStore]. Modules payments/sqlite and
// payments/postgres have durable ones. Package payments/storetest tests a store.
//
// A Store must be safe for concurrent use, and keeps no slice that it was given or has returned. Insert and Save return
// when what they wrote survives a crash of the process and a loss of power. If they return an error, other than those
// named here, the row may or may not have changed. A context that has ended before the call changes nothing, and the
// error wraps its error.
//
// A lease stays the row's until another claim replaces it or it is released, also after its end. The lease of a row
// ends at the latest when the process that keeps a store for itself alone has ended.
type Store interface {
	// Insert stores a row under a key that is new, and returns it with its position and true. If the key is there, it
	// returns the stored row and false, and changes nothing.
	Insert(ctx context.Context, row Row) (stored Row, inserted bool, err error)
	// Load returns the row of a key. If there is none, the error is *[NotFound].
	Load(ctx context.Context, key moneymovement.Key) (Row, error)
	// List returns rows in the order of their keys.
	List(ctx context.Context, list List) ([]Row, error)
	// Changes returns at most limit rows that were changed after a position, in the order of their changes. A row that
	// changed several times is returned once, as it is now. No change is left out, whatever transactions are under way:
	// each is returned after every position that was returned before it was committed. If the position is not one of
	// this store, the error is *[BadPosition].
	Changes(ctx context.Context, after Position, limit int) ([]Row, error)
	// Claim leases due rows that no other lease holds, and returns them. Rows of WorkBegin come in turns: one of each
	// account, then the next of each account, each account in the order of its inserts. Rows of other classes come in
	// the order in which they are due. An ended lease does not hold a row. With Key, the error is *[NotFound] if there
	// is no such row, and *[Busy] if another lease holds it.
	Claim(ctx context.Context, claim Claim) (Claimed, error)
	// Extend lets leases last for a time from now on, also leases that have ended and were not replaced. It returns the
	// keys of those that are no longer held.
	Extend(
		ctx context.Context, leases map[moneymovement.Key]Lease, d time.Duration,
	) (lost []moneymovement.Key, err error)
	// Save stores a claimed row, and releases its lease if release is true. If the lease is no longer the row's, it
	// changes nothing, and the error is *[LeaseLost].
	Save(ctx context.Context, row Row, release bool) (Position, error)
	// Postpone changes only the due time of a claimed row, and releases its lease. It need not survive a crash, and is
	// no change for Changes. If the lease is no longer the row's, the error is *[LeaseLost].
	Postpone(ctx context.Context, row Row) error
	// Summary counts the rows.
	Summary(ctx context.Context) (Summary, error)
}
