// Package store keeps the host's records. A part of the host has its records in tables ([Table]), or in its own lists
// and indexes that write to the store ([Writer]). It reads nothing else. Before a part releases its lock, it passes all
// changes to the [Store] in one commit. When a part opens, it reads the stored records.
//
// A record is a plain value that can be encoded as JSON and decoded to the same value. It refers to another record by
// id. A part derives everything else, such as an index, from its records.
//
// An operation that changes several parts, such as a transfer that pays an invoice, makes one commit in each part, and
// not one for all. The host itself is a part as well: it stores its credentials, the settings that were changed, and
// the time by which the clock was advanced. These are not stored: rate windows, the request log, the audit, and
// requests that a fault repeats later.
package store

import (
	"fmt"
	"iter"
	"maps"
	"sync/atomic"

	"github.com/go-json-experiment/json"
)

// Store keeps records for the next start of the host. It is safe for concurrent use. A store that keeps them passes
// both tests of package storetest. A store that does not passes the first test.
type Store interface {
	// Load calls each with the records of a kind, as they were last committed, in the order in which they were first
	// put since their last deletion. If each returns an error, Load stops and returns it.
	Load(kind string, each func(id string, encoded []byte) error) error

	// Commit stores all of these changes, in their order, or returns an error and stores none. It must not read the
	// records after it has returned.
	Commit(changes []Change) error
}

// Change is one change of the records of a kind.
type Change struct {
	Kind string
	// Record is the new record, or nil for a deleted record.
	Record any

	id    string
	named Named // in place of the id
}

// Named is a record that knows its id.
type Named interface{ RecordID() string }

// Put returns the change for a new or changed record.
func Put(kind, id string, record any) Change { return Change{Kind: kind, id: id, Record: record} }

// Deleted returns the change for a deleted record. Without an id, it deletes all records of the kind.
func Deleted(kind, id string) Change { return Change{Kind: kind, id: id} }

// ID returns the record's id. An empty id stands for all records of the kind, which are deleted.
func (c Change) ID() string {
	if c.named != nil {
		return c.named.RecordID()
	}
	return c.id
}

// Encode returns the stored form of the record. [Store.Load] passes on the same form.
func (c Change) Encode() ([]byte, error) { return json.Marshal(c.Record, json.Deterministic(true)) }

// Memory is a store that keeps nothing: the parts of the host hold all records in memory.
type Memory struct{}

// Load implements [Store].
func (Memory) Load(string, func(string, []byte) error) error { return nil }

// Commit implements [Store].
func (Memory) Commit([]Change) error { return nil }

// Writer stores the changes of records of one kind that their part holds itself, in an order or by its own key. A
// record may be changed in place. Put it again after that.
type Writer[N Named] struct {
	keeper *Keeper
	kind   string
}

// OpenWriter returns the feed of a kind. It calls a function with each record as it was last committed, in the order in
// which the records were first put. It panics if the store cannot be read.
func OpenWriter[R any, N interface {
	*R
	Named
}](k *Keeper, kind string, each func(record N)) *Writer[N] {
	load(k, kind, func(_ string, record *R) { each(record) })
	return &Writer[N]{k, kind}
}

// Put stores a new or changed record.
func (f *Writer[N]) Put(record N) {
	f.keeper.changes = append(f.keeper.changes, Change{Kind: f.kind, Record: record, named: record})
}

// Delete deletes a record.
func (f *Writer[N]) Delete(record N) {
	f.keeper.changes = append(f.keeper.changes, Deleted(f.kind, record.RecordID()))
}

// Clear deletes every record.
func (f *Writer[N]) Clear() { f.keeper.changes = append(f.keeper.changes, Deleted(f.kind, "")) }

// Keeper holds the changes in the tables of one part of the host. The part's lock guards it, like the tables.
type Keeper struct {
	store    Store
	changes  []Change
	revision atomic.Int64
}

// NewKeeper returns a keeper without tables.
func NewKeeper(s Store) *Keeper { return &Keeper{store: s} }

// Revision is a number that grows with each commit that changes something. It needs no lock.
func (k *Keeper) Revision() int64 { return k.revision.Load() }

// maxSpare is how much room for changes a keeper keeps between commits.
const maxSpare = 1024

// Commit passes the changes to the store. If the store refuses them, it panics, so that no caller gets a response about
// something that is not stored. The next commit then passes them again.
func (k *Keeper) Commit() {
	if len(k.changes) == 0 {
		return
	}
	if err := k.store.Commit(k.changes); err != nil {
		panic(fmt.Errorf("store: cannot commit: %w", err))
	}
	k.revision.Add(1)
	clear(k.changes)
	if k.changes = k.changes[:0]; cap(k.changes) > maxSpare {
		k.changes = nil
	}
}

// Table has the records of one kind by their ids. A record may be changed in place. Put it again after that.
type Table[R any] struct {
	keeper  *Keeper
	kind    string
	records map[string]*R
}

// Open returns the table of a kind as it was last committed. It calls a function with each record, in the order in
// which the records were first put, so that the part can make an index. It panics if the store cannot be read.
func Open[R any](k *Keeper, kind string, index ...func(id string, record *R)) *Table[R] {
	t := &Table[R]{keeper: k, kind: kind, records: map[string]*R{}}
	load(k, kind, func(id string, record *R) {
		t.records[id] = record
		for _, each := range index {
			each(id, record)
		}
	})
	return t
}

func load[R any](k *Keeper, kind string, each func(id string, record *R)) {
	err := k.store.Load(kind, func(id string, encoded []byte) error {
		record := new(R)
		if err := json.Unmarshal(encoded, record); err != nil {
			return fmt.Errorf("%s: %w", id, err)
		}
		each(id, record)
		return nil
	})
	if err != nil {
		panic(fmt.Errorf("store: cannot read %s: %w", kind, err))
	}
}

// Get returns a record, or nil.
func (t *Table[R]) Get(id string) *R { return t.records[id] }

// Put stores a new or changed record.
func (t *Table[R]) Put(id string, record *R) {
	t.records[id] = record
	t.keeper.changes = append(t.keeper.changes, Put(t.kind, id, record))
}

// Delete deletes a record, if there is one.
func (t *Table[R]) Delete(id string) {
	if _, ok := t.records[id]; !ok {
		return
	}
	delete(t.records, id)
	t.keeper.changes = append(t.keeper.changes, Deleted(t.kind, id))
}

// DeleteFunc deletes the records for which a function returns true.
func (t *Table[R]) DeleteFunc(match func(id string, record *R) bool) {
	for id, record := range t.records {
		if match(id, record) {
			t.Delete(id)
		}
	}
}

// Clear deletes every record.
func (t *Table[R]) Clear() {
	t.records = map[string]*R{}
	t.keeper.changes = append(t.keeper.changes, Deleted(t.kind, ""))
}

// All iterates over the records in no particular order.
func (t *Table[R]) All() iter.Seq2[string, *R] { return maps.All(t.records) }

// Len returns how many records there are.
func (t *Table[R]) Len() int { return len(t.records) }
