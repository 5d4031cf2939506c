package store_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/store"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/store/storetest"
)

func TestMemoryConforms(t *testing.T) {
	storetest.Conforms(t, func(*testing.T) store.Store { return store.Memory{} })
}

func TestEncodedConformsAndPersists(t *testing.T) {
	open := func(*testing.T) store.Store { return new(storetest.Encoded) }
	storetest.Conforms(t, open)
	storetest.Lasts(t, open)
}

type named struct{ Name string }

// TestTablesLoadWhatWasCommitted opens the same store twice. Changes without a commit are lost.
func TestTablesLoadWhatWasCommitted(t *testing.T) {
	s := new(storetest.Encoded)
	keeper := store.NewKeeper(s)
	table := store.Open[named](keeper, "names")
	table.Put("a", &named{"first"})
	keeper.Commit()
	table.Get("a").Name = "changed"
	assert.Len(t, s.Stale(), 1, "which is changed, and was not put again")
	table.Put("a", table.Get("a"))
	table.Put("b", &named{"second"})
	assert.Equal(t, "first", store.Open[named](store.NewKeeper(s), "names").Get("a").Name)
	keeper.Commit()
	assert.Empty(t, s.Stale())
	again := store.Open[named](store.NewKeeper(s), "names")
	assert.Equal(t, "changed", again.Get("a").Name)
	assert.Equal(t, 2, again.Len())
	again.DeleteFunc(func(id string, _ *named) bool { return id == "a" })
	assert.Nil(t, again.Get("a"))
}

// moody refuses commits while it is down.
type moody struct {
	storetest.Encoded
	down error
}

func (m *moody) Commit(changes []store.Change) error {
	if m.down != nil {
		return m.down
	}
	return m.Encoded.Commit(changes)
}

func TestFailedCommitIsRetried(t *testing.T) {
	s := &moody{down: errors.New("full disk")}
	keeper := store.NewKeeper(s)
	table := store.Open[named](keeper, "names")
	table.Put("a", &named{"first"})
	assert.PanicsWithError(t, "store: cannot commit: full disk", keeper.Commit)
	s.down = nil
	table.Put("b", &named{"second"})
	keeper.Commit()
	assert.Equal(t, 2, s.Len("names"))
}

func TestUnreadableRecordPanicsOnOpen(t *testing.T) {
	s := new(storetest.Encoded)
	keeper := store.NewKeeper(s)
	store.Open[named](keeper, "names").Put("a", &named{"first"})
	keeper.Commit()
	defer func() { // the library words what is wrong with the record differently from process to process
		err, _ := recover().(error)
		assert.ErrorContains(t, err, "store: cannot read names: a: ")
	}()
	store.Open[int](store.NewKeeper(s), "names")
}

func TestMemoryCommitDoesNotAllocate(t *testing.T) {
	keeper := store.NewKeeper(store.Memory{})
	table, record := store.Open[named](keeper, "names"), &named{"first"}
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		table.Put("a", record)
		keeper.Commit()
	}))
}
