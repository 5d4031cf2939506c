package sandbox

import "github.com/moneymovement/moneymovement-go/sandbox/internal/store"

// WithStore makes the host keep its records there.
func WithStore(s store.Store) Option { return func(setup *setup) { setup.store = s } }
