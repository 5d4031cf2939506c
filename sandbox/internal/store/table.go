package store

import (
	"fmt"
	"iter"
	"maps"

	"github.com/go-json-experiment/json"
)

// Keeper holds what has changed in the tables of one part of the host. Like its tables it is guarded by the part's
// lock.
type Keeper struct {
	store   Store
	changes []Change
}

// NewKeeper returns a keeper without tables.
func NewKeeper(s Store) *Keeper { return &Keeper{store: s} }

// mostSpare is how many changes a keeper has room for between commits.
const mostSpare = 1024

// Commit hands the changes to the store. It panics if the store does not take them, so that no caller hears of
// something that is not kept; they are then handed over with those of the next commit.
func (k *Keeper) Commit() {
	if len(k.changes) == 0 {
		return
	}
	if err := k.store.Commit(k.changes); err != nil {
		panic(fmt.Errorf("store: cannot commit: %w", err))
	}
	clear(k.changes)
	if k.changes = k.changes[:0]; cap(k.changes) > mostSpare {
		k.changes = nil
	}
}

// Table has the records of one kind by their ids. A record may be changed in place, and is then put again.
type Table[R any] struct {
	keeper  *Keeper
	kind    string
	records map[string]*R
}

// Open returns the table of a kind as it was last committed, and shows each of its records to whoever makes an index of
// them, in the order in which they were first put. It panics if the store cannot be read.
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

// Put keeps a record that is new or changed.
func (t *Table[R]) Put(id string, record *R) {
	t.records[id] = record
	t.keeper.changes = append(t.keeper.changes, Put(t.kind, id, record))
}

// Delete forgets a record, if there is one.
func (t *Table[R]) Delete(id string) {
	if _, ok := t.records[id]; !ok {
		return
	}
	delete(t.records, id)
	t.keeper.changes = append(t.keeper.changes, Gone(t.kind, id))
}

// DeleteFunc forgets the records that are meant.
func (t *Table[R]) DeleteFunc(isMeant func(id string, record *R) bool) {
	for id, record := range t.records {
		if isMeant(id, record) {
			t.Delete(id)
		}
	}
}

// Clear forgets every record.
func (t *Table[R]) Clear() {
	t.records = map[string]*R{}
	t.keeper.changes = append(t.keeper.changes, Gone(t.kind, ""))
}

// All has the records in no order.
func (t *Table[R]) All() iter.Seq2[string, *R] { return maps.All(t.records) }

// Len is how many records there are.
func (t *Table[R]) Len() int { return len(t.records) }
