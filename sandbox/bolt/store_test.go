//go:build !wasm

package bolt_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/sandbox/bolt"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/store"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/store/storetest"
)

// newStore returns a store in a new file, which ends with the test.
func newStore(t *testing.T) *bolt.Store {
	t.Helper()
	return open(t, filepath.Join(t.TempDir(), "host.db"))
}

func open(t *testing.T, path string) *bolt.Store {
	t.Helper()
	kept, err := bolt.Open(path)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, kept.Close()) })
	return kept
}

func TestConforms(t *testing.T) {
	storetest.Conforms(t, func(t *testing.T) store.Store { return newStore(t) })
}

func TestLasts(t *testing.T) {
	storetest.Lasts(t, func(t *testing.T) store.Store { return newStore(t) })
}

type note struct{ Text string }

// More records than are read at a time, with a page that ends where a record was deleted.
func TestManyRecordsKeepTheirOrder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "host.db")
	kept, err := bolt.Open(path)
	require.NoError(t, err)
	var changes []store.Change
	var want []string
	for i := range 3000 {
		id := fmt.Sprint(7919 * i % 3000)
		changes = append(changes, store.Put("note", id, &note{id}))
		if i == 1023 || i == 1024 || i == 2999 {
			changes = append(changes, store.Gone("note", id))
			continue
		}
		want = append(want, id)
	}
	require.NoError(t, kept.Commit(changes))
	require.NoError(t, kept.Close())

	var found []string
	require.NoError(t, open(t, path).Load("note", func(id string, encoded []byte) error {
		assert.Equal(t, `{"Text":"`+id+`"}`, string(encoded))
		found = append(found, id)
		return nil
	}))
	assert.Equal(t, want, found)
}

// A key of bbolt has a largest size. A record with a longer id is refused whole, and the store goes on.
func TestAnIDThatIsTooLongIsRefused(t *testing.T) {
	kept := newStore(t)
	long := string(make([]byte, 40_000))
	require.ErrorContains(t, kept.Commit([]store.Change{
		store.Put("note", "a", &note{"1"}), store.Put("note", long, &note{"2"}),
	}), "key too large")
	require.NoError(t, kept.Load("note", func(id string, _ []byte) error { return fmt.Errorf("found %s", id) }))
	require.NoError(t, kept.Commit([]store.Change{store.Put("note", "a", &note{"1"})}))
}

func TestAClosedStoreTakesNothing(t *testing.T) {
	kept, err := bolt.Open(filepath.Join(t.TempDir(), "host.db"))
	require.NoError(t, err)
	require.NoError(t, kept.Close())
	require.NoError(t, kept.Close(), "a second time")
	assert.ErrorContains(t, kept.Commit([]store.Change{store.Put("note", "a", &note{"1"})}), "not open")
	assert.ErrorContains(t, kept.Load("note", func(string, []byte) error { return nil }), "not open")
}
