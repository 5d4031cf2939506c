package sqlite_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/payments"
	"github.com/moneymovement/moneymovement-go/payments/sqlite"
	"github.com/moneymovement/moneymovement-go/payments/storetest"
)

func open(t *testing.T, path string, options ...sqlite.Option) *sqlite.Store {
	t.Helper()
	store, err := sqlite.Open(t.Context(), path, options...)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, store.Close()) })
	return store
}

func TestStore(t *testing.T) {
	fresh := func(t *testing.T) payments.Store { return open(t, filepath.Join(t.TempDir(), "payments.db")) }
	if testing.Short() {
		storetest.Run(t, fresh, storetest.VirtualTime())
		return
	}
	storetest.Run(t, fresh, storetest.Seed(2)) // in real time, with the same statements
}
