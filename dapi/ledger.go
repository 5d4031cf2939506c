package dapi

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/codec"
	"github.com/moneymovement/moneymovement-go/internal/transport"
	"github.com/moneymovement/moneymovement-go/model"
)

// Transactions reads the ledger of the account. The newest entries come first, as far as is known: the service's
// description states no order.
//
// # Entries of a payout
//
// All entries of a payout have its id in PayoutID. The description does not state which entries there are. This is
// assumed, and the sandbox host does so:
//
//   - booked, and not confirmed or expired: no entry. The balance stays as it is.
//   - confirmed: an entry of type `payout`, direction out, status `pending`. The balance is reduced by the amount of
//     the payout, which includes the fee.
//   - `completed`: the same entry is `completed`.
//   - `failed`: the same entry is `failed`. The balance is restored without another entry.
//   - `refunded`: the entry of type `payout` is `completed`. When the money is back, there is another entry of type
//     `refund`, direction in. Its amount can be smaller, by the fee of the return. The service finds the payout by the
//     amount, within 0.20, so PayoutID can name another payout of about the same amount, or be empty.
//
// # Entries of a day
//
// The only filters are Type and Since. For one day, set Since to its beginning, read all entries, and drop those whose
// CreatedAt is after its end. [Transactions.Changes] keeps a copy of the ledger up to date.
type Transactions struct{ low lowLevel }

// List returns one page: at most params.Limit entries, or 50 if params.Limit is 0. A cursor belongs to its query: with
// other filters, the error is *errors.InvalidCursor.
func (s *Transactions) List(
	ctx context.Context, params ListTransactionsParams, options ...moneymovement.CallOption,
) (*TransactionPage, error) {
	return transport.OrNew(s).low.ListTransactions(ctx, &params, options)
}

// All iterates over all pages, from params.Cursor on. You can range over it more than once. It stops after the first
// error.
func (s *Transactions) All(
	ctx context.Context, params ListTransactionsParams, options ...moneymovement.CallOption,
) iter.Seq2[Transaction, error] {
	return s.upTo(ctx, math.MaxInt, params, options)
}

// upTo is All with a limit on the number of pages.
func (s *Transactions) upTo(
	ctx context.Context, most int, params ListTransactionsParams, options []moneymovement.CallOption,
) iter.Seq2[Transaction, error] {
	return pages(ctx, most, &opListTransactions, s.List, params, options,
		func(p *ListTransactionsParams) *string { return &p.Cursor },
		func(page *TransactionPage) ([]Transaction, string) { return page.Items, page.NextCursor })
}

// Signed returns the amount with its sign: positive if the money arrived, negative if it left. The unit is Currency.
// The status does not matter: the amount of a pending or failed entry is returned, too. If this version does not know
// the direction, ok is false and the amount is zero.
func (t Transaction) Signed() (amount model.Decimal, ok bool) {
	switch t.Direction {
	case TransactionDirectionIn:
		return t.Amount, true
	case TransactionDirectionOut:
		return t.Amount.Neg(), true
	}
	return amount, false
}

// TransactionChange is a ledger entry that is new or has another status.
type TransactionChange struct {
	// Transaction is the entry as it stands now.
	Transaction Transaction
	// Previous is the status that was delivered before. It is empty if the entry was not delivered before.
	Previous TransactionStatus
	// LastChange reports that later changes of this entry are not delivered, although it is still pending. It was
	// created more than [ChangesParams].PendingFor before the newest entry. Read its payout, payin or escrow instead.
	// If the ledger no longer lists the entry, Transaction has only ID, CreatedAt and Status.
	LastChange bool
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
	// [TransactionChange].LastChange.
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
		f, err := transport.OrNew(s).follower(ctx, params, options)
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
		read, err := f.read()
		if err != nil {
			yield(TransactionChange{}, err)
			return
		}
		if !f.deliver(read, yield) {
			return
		}
		complete = read.complete
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
		reading := &Transactions{transport.OrNew(s).low.polling(options)}
		f, err := reading.follower(ctx, params, nil)
		pace := moneymovement.WaitSettingsOf(options...).Polling
		for err == nil {
			var read *ledgerRead
			if read, err = f.await(ctx, options); err != nil {
				break
			}
			if !f.deliver(read, yield) {
				return
			}
			if read.complete {
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
func (f *follower) await(ctx context.Context, options []moneymovement.WaitOption) (*ledgerRead, error) {
	return transport.Awaited[ledgerRead]{
		Client: f.low.transport, Operation: &opListTransactions, Resource: "ledger", ID: f.low.actingFor(),
		Read: func(context.Context) (*ledgerRead, error) {
			f.newestOnly = time.Since(f.fullReadAt) < fullReadsOneIn*f.fullReadTook
			began := time.Now()
			read, err := f.read()
			if err == nil && !f.newestOnly {
				f.fullReadAt, f.fullReadTook = time.Now(), time.Since(began)
			}
			return read, err
		},
		Status: func(read *ledgerRead) string {
			if len(read.changes) == 0 {
				return "unchanged"
			}
			return "changed"
		},
		Done: func(read *ledgerRead) bool { return len(read.changes) > 0 },
	}.Wait(ctx, options)
}

// fullReadsOneIn limits the reads that go back to old entries: they take at most a tenth of the time.
const fullReadsOneIn = 10

// deliver yields the changes that a read has found, and moves the position. It returns false if the caller left the
// loop.
func (f *follower) deliver(read *ledgerRead, yield func(TransactionChange, error) bool) bool {
	position := LedgerPosition{base: f.known, then: make([]ledgerStep, 0, len(read.changes))}
	for _, change := range read.changes {
		position.then = append(position.then, f.step(read, change))
		change.Position = position
		if !yield(change, nil) {
			return false
		}
	}
	f.known = position.state()
	return true
}

// step returns what a position stores about a change. The next read starts LateBy before the newest delivered entry. An
// entry with a time in the future does not count, because it would hide all entries until then.
func (f *follower) step(read *ledgerRead, change TransactionChange) ledgerStep {
	entry := change.Transaction
	newest := entry.CreatedAt
	if newest.After(read.at) {
		newest = read.at
	}
	return ledgerStep{
		id: entry.ID, created: entry.CreatedAt, status: entry.Status,
		watched: !entry.Status.Final() && !change.LastChange, edge: newest.Add(-f.lateBy),
	}
}

// LedgerPosition records which changes of a ledger were delivered: see [Transactions.Changes]. You can copy it, and
// store it as JSON. The zero value is the beginning of the ledger. [LedgerPositionAt] returns any other start.
//
// A position belongs to one account. It holds the id, time and status of each pending entry (about 20,000 at most), and
// a digest of each settled entry of the last [ChangesParams].LateBy (5,000 at most). Its JSON has less than 100 bytes,
// plus about 100 for each pending entry and about 30 for each of these settled entries. It holds no amounts and no
// secrets.
type LedgerPosition struct {
	base *ledgerState // nil for the beginning
	then []ledgerStep // what was delivered since
}

// LedgerPositionAt returns a position from which the entries that were created at t or later are delivered. Entries
// that were created before t are never delivered, even if they change later. To include entries that are pending at t,
// choose an earlier time.
func LedgerPositionAt(t time.Time) LedgerPosition {
	return LedgerPosition{base: &ledgerState{Edge: t}}
}

// The bounds of a position.
const (
	maxPendingKept = 20_000
	maxSettledKept = 5_000
)

// ledgerState is the content of a position. It does not change after that.
type ledgerState struct {
	Account string // that it belongs to; empty before it was used
	// Edge is the time from which new entries are looked for. An entry that was created earlier, and is not in Pending,
	// was delivered.
	Edge    time.Time
	Pending map[TransactionID]pendingEntry
	Settled map[string]settledEntry // by digest
}

type pendingEntry struct {
	Created time.Time
	Status  TransactionStatus
}

type settledEntry struct {
	Second int64 // the Unix time of its creation
	Status TransactionStatus
}

// ledgerStep is one change that was delivered.
type ledgerStep struct {
	id      TransactionID
	created time.Time
	status  TransactionStatus
	watched bool      // it is pending, and the next read reads it again
	edge    time.Time // the new Edge, if it is later than the old one
}

// state returns the content of the position in new maps.
func (p LedgerPosition) state() *ledgerState {
	known := &ledgerState{Pending: map[TransactionID]pendingEntry{}, Settled: map[string]settledEntry{}}
	if p.base != nil {
		known.Account, known.Edge = p.base.Account, p.base.Edge
		maps.Copy(known.Pending, p.base.Pending)
		maps.Copy(known.Settled, p.base.Settled)
	}
	for _, step := range p.then {
		known.take(step)
	}
	known.forget()
	return known
}

func (k *ledgerState) take(step ledgerStep) {
	delete(k.Pending, step.id)
	if step.watched {
		k.Pending[step.id] = pendingEntry{step.created, step.status}
	} else {
		k.Settled[digestOf(step.id)] = settledEntry{step.created.Unix(), step.status}
	}
	if step.edge.After(k.Edge) {
		k.Edge = step.edge
	}
}

// forget drops the settled entries before Edge. Their time shows that they were delivered. If there are still too many,
// it moves the edge.
func (k *ledgerState) forget() {
	before := k.Edge.Unix()
	if len(k.Settled) > maxSettledKept {
		seconds := make([]int64, 0, len(k.Settled))
		for _, entry := range k.Settled {
			seconds = append(seconds, entry.Second)
		}
		slices.Sort(seconds)
		if full := seconds[len(seconds)-maxSettledKept-1] + 1; full > before {
			before, k.Edge = full, time.Unix(full, 0).UTC()
		}
	}
	maps.DeleteFunc(k.Settled, func(_ string, entry settledEntry) bool { return entry.Second < before })
}

// digestOf returns a short digest of an id. Among 5,000 ids, the chance of two equal digests is less than 1 in 10^14.
func digestOf(id TransactionID) string {
	digest := sha256.Sum256([]byte(id))
	return base64.RawURLEncoding.EncodeToString(digest[:9])
}

// String returns a short text about the position, for logs.
func (p LedgerPosition) String() string {
	known := p.state()
	if known.Edge.IsZero() && len(known.Pending) == 0 && len(known.Settled) == 0 {
		return "beginning of the ledger"
	}
	return fmt.Sprintf("ledger from %s, with %d pending and %d settled entries known",
		known.Edge.UTC().Format(time.RFC3339), len(known.Pending), len(known.Settled))
}

// storedPosition is a position as it is stored.
type storedPosition struct {
	Version int                                    `json:"version"`
	Account string                                 `json:"account,omitempty"`
	Edge    time.Time                              `json:"edge"`
	Pending []storedPending                        `json:"pending,omitempty"`
	Settled map[TransactionStatus]map[string]int64 `json:"settled,omitempty"`
}

type storedPending struct {
	ID      TransactionID     `json:"id"`
	Created time.Time         `json:"created"`
	Status  TransactionStatus `json:"status"`
}

// positionVersion is the form in which positions are stored.
const positionVersion = 1

// MarshalJSON returns the position for storage. The format is internal and can change in a later version, which can
// still read positions of earlier versions.
func (p LedgerPosition) MarshalJSON() ([]byte, error) {
	known := p.state()
	stored := storedPosition{Version: positionVersion, Account: known.Account, Edge: known.Edge.UTC()}
	for id, entry := range known.Pending {
		stored.Pending = append(stored.Pending, storedPending{id, entry.Created.UTC(), entry.Status})
	}
	slices.SortFunc(stored.Pending, func(a, b storedPending) int {
		return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.ID, b.ID))
	})
	for digest, entry := range known.Settled {
		if stored.Settled == nil {
			stored.Settled = map[TransactionStatus]map[string]int64{}
		}
		if stored.Settled[entry.Status] == nil {
			stored.Settled[entry.Status] = map[string]int64{}
		}
		stored.Settled[entry.Status][digest] = entry.Second
	}
	return codec.Marshal(stored, codec.Deterministic())
}

// UnmarshalJSON reads what MarshalJSON returned. If it fails, the position is unchanged.
func (p *LedgerPosition) UnmarshalJSON(text []byte) error {
	var stored storedPosition
	if err := codec.Unmarshal(text, &stored, codec.NoUnknownMembers()); err != nil {
		return fmt.Errorf("dapi: not a stored ledger position: %w", err)
	}
	if stored.Version != positionVersion {
		return fmt.Errorf("dapi: ledger position of version %d, and this package reads version %d: "+
			"read it with the version of the package that wrote it", stored.Version, positionVersion)
	}
	known := &ledgerState{
		Account: stored.Account, Edge: stored.Edge,
		Pending: map[TransactionID]pendingEntry{}, Settled: map[string]settledEntry{},
	}
	for _, entry := range stored.Pending {
		known.Pending[entry.ID] = pendingEntry{entry.Created, entry.Status}
	}
	for status, entries := range stored.Settled {
		for digest, second := range entries {
			known.Settled[digest] = settledEntry{second, status}
		}
	}
	*p = LedgerPosition{base: known}
	return nil
}
