package store

import "github.com/go-json-experiment/json"

// Store keeps records from one opening of the host to the next. It is safe for concurrent use. A store that lasts passes
// both tests of storetest, any other the first.
type Store interface {
	// Load hands out the records of a kind, each as it was last committed, in the order in which they were first put since
	// they were last gone. An error of each ends it, and is returned.
	Load(kind string, each func(id string, encoded []byte) error) error

	// Commit keeps all of these changes, in their order, or returns an error and keeps none. Records are not looked at
	// after it has returned.
	Commit(changes []Change) error
}

// Change is one thing that happened to the records of a kind.
type Change struct {
	Kind string
	// ID names the record. An empty one stands for all records of the kind, which are gone.
	ID string
	// Record is what the record is from now on; nil when it is gone.
	Record any
}

// Encode is how the record is kept, which is what [Store.Load] hands out.
func (c Change) Encode() ([]byte, error) { return json.Marshal(c.Record, json.Deterministic(true)) }

// Memory is a store that does not last: it keeps nothing beside the tables, which are the memory.
type Memory struct{}

// Load implements [Store].
func (Memory) Load(string, func(string, []byte) error) error { return nil }

// Commit implements [Store].
func (Memory) Commit([]Change) error { return nil }
