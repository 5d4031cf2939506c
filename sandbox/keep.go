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
//
// The credentials stay the same, so that callers work unchanged. The clock goes on from where it was, with the time by
// which it was advanced. Settings that were changed with [Host.Configure] or over the controls stay changed. What an
// option sets wins: [WithEmail], [WithDeveloperKey], [WithAPIKey], [WithSettings] and the options that change settings.
// [Host.Reset] goes back to the start here as well.
//
// The host forgets on purpose what counts or shows requests: the rate windows, the log of [Host.Requests], the audit of
// [WithAudit], and requests that a fault would have repeated later.
func WithStore(kept Store) Option {
	return func(s *setup) {
		if s.store = kept; kept == nil {
			s.refuse("WithStore", errors.New("the store is nil; leave the option out to keep nothing"))
		}
	}
}
