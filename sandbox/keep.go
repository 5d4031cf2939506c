package sandbox

import (
	"errors"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/store"
)

// Store keeps the state of a host for its next start. Package sandbox/bolt, a module of its own, has one that keeps it
// in a file. Its methods are for the host. No other module can implement it, since what a host stores changes from
// version to version.
type Store = store.Store

// WithStore makes the host keep its state in a store, and go on with what the store has. One host at a time can use a
// store. Without this option the host keeps everything in memory, and forgets it at its end.
func WithStore(kept Store) Option {
	return func(s *setup) {
		if s.store = kept; kept == nil {
			s.refuse("WithStore", errors.New("the store is nil; leave the option out to keep nothing"))
		}
	}
}
