package store

import "github.com/go-json-experiment/json"

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

// Gone returns the change for a deleted record. Without an id, it deletes all records of the kind.
func Gone(kind, id string) Change { return Change{Kind: kind, id: id} }

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
