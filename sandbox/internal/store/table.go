package store

import (
	"fmt"
	"iter"
	"maps"
	"sync/atomic"

	"github.com/go-json-experiment/json"
)

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

// mostSpare is how much room for changes a keeper keeps between commits.
const mostSpare = 1024

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
	if k.changes = k.changes[:0]; cap(k.changes) > mostSpare {
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
		for _, show := range index {
			show(id, record)
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
	t.keeper.changes = append(t.keeper.changes, Gone(t.kind, id))
}

// DeleteFunc deletes the records for which a function returns true.
func (t *Table[R]) DeleteFunc(isMeant func(id string, record *R) bool) {
	for id, record := range t.records {
		if isMeant(id, record) {
			t.Delete(id)
		}
	}
}

// Clear deletes every record.
func (t *Table[R]) Clear() {
	t.records = map[string]*R{}
	t.keeper.changes = append(t.keeper.changes, Gone(t.kind, ""))
}

// All iterates over the records in no particular order.
func (t *Table[R]) All() iter.Seq2[string, *R] { return maps.All(t.records) }

// Len returns how many records there are.
func (t *Table[R]) Len() int { return len(t.records) }
