package store

import "github.com/go-json-experiment/json"

// Store keeps records from one opening of the host to the next. It is safe for concurrent use. A store that lasts
// passes both tests of storetest, any other the first.
type Store interface {
	// Load hands out the records of a kind, each as it was last committed, in the order in which they were first put
	// since they were last gone. An error of each ends it, and is returned.
	Load(kind string, each func(id string, encoded []byte) error) error

	// Commit keeps all of these changes, in their order, or returns an error and keeps none. Records are not looked at
	// after it has returned.
	Commit(changes []Change) error
}

// Change is one thing that happened to the records of a kind.
type Change struct {
	Kind string
	// Record is what the record is from now on; nil when it is gone.
	Record any

	id    string
	named Named // in place of the id
}

// Named is a record that knows its id.
type Named interface{ RecordID() string }

// Put is a record that is new or changed.
func Put(kind, id string, record any) Change { return Change{Kind: kind, id: id, Record: record} }

// Gone is a record that is gone; without an id, all records of the kind are.
func Gone(kind, id string) Change { return Change{Kind: kind, id: id} }

// ID names the record. An empty one stands for all records of the kind, which are gone.
func (c Change) ID() string {
	if c.named != nil {
		return c.named.RecordID()
	}
	return c.id
}

// Encode is how the record is kept, which is what [Store.Load] hands out.
func (c Change) Encode() ([]byte, error) { return json.Marshal(c.Record, json.Deterministic(true)) }

// Memory is a store that does not last: it keeps nothing beside what the parts hold, which is the memory.
type Memory struct{}

// Load implements [Store].
func (Memory) Load(string, func(string, []byte) error) error { return nil }

// Commit implements [Store].
func (Memory) Commit([]Change) error { return nil }
