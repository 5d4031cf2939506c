// Package storetest has the tests of stores, and a store for tests.
package storetest

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/store"
)

type record struct {
	Text  string            `json:"text"`
	Named map[string]string `json:"named,omitzero"`
}

const kind, other = "storetest.record", "storetest.other"

// Conforms tests the contract of every store, also of one that keeps nothing. Each call of open returns a new store.
func Conforms(t *testing.T, open func(*testing.T) store.Store) {
	t.Helper()
	t.Run("a new store is empty", func(t *testing.T) {
		if found := load(t, open(t), kind); len(found) > 0 {
			t.Errorf("found %v", found)
		}
	})
	t.Run("a table reads what was put before and after a commit", func(t *testing.T) {
		keeper := store.NewKeeper(open(t))
		table := store.Open[record](keeper, kind)
		for _, commit := range []func(){func() {}, keeper.Commit} {
			table.Put("a", &record{Text: "first"})
			table.Put("b", &record{Text: "second"})
			table.Delete("b")
			table.Delete("never")
			commit()
			if table.Len() != 1 || table.Get("a").Text != "first" || table.Get("b") != nil {
				t.Errorf("the table has %v", maps.Collect(table.All()))
			}
			table.Clear()
			commit()
			if table.Len() != 0 {
				t.Errorf("the table has %v", maps.Collect(table.All()))
			}
		}
	})
	t.Run("nothing is committed", func(t *testing.T) {
		if err := open(t).Commit(nil); err != nil {
			t.Error(err)
		}
	})
	t.Run("of parts at once", func(t *testing.T) {
		opened := open(t)
		fill(opened)
	})
}

// Lasts tests a store that keeps records for the next start of the host.
func Lasts(t *testing.T, open func(*testing.T) store.Store) {
	t.Helper()
	put := func(kind, id, text string) store.Change {
		return store.Put(kind, id, &record{Text: text})
	}
	gone := store.Deleted
	for name, test := range map[string]struct {
		turns [][]store.Change
		want  []string // of kind
		other []string
	}{
		"what was put": {turns: [][]store.Change{{put(kind, "a", "1")}}, want: []string{"a=1"}},
		"in the order of the first put": {
			turns: [][]store.Change{{put(kind, "b", "1"), put(kind, "a", "2")}, {put(kind, "c", "3")}},
			want:  []string{"b=1", "a=2", "c=3"},
		},
		"the last of two puts, in place": {
			turns: [][]store.Change{{put(kind, "a", "1"), put(kind, "b", "2")}, {put(kind, "a", "3")}},
			want:  []string{"a=3", "b=2"},
		},
		"two puts in one turn": {turns: [][]store.Change{{put(kind, "a", "1"), put(kind, "a", "2")}},
			want: []string{"a=2"}},
		"without what is gone": {
			turns: [][]store.Change{{put(kind, "a", "1"), put(kind, "b", "2")}, {gone(kind, "a")}},
			want:  []string{"b=2"},
		},
		"put and gone in one turn": {turns: [][]store.Change{{put(kind, "a", "1"), gone(kind, "a")}}},
		"at the end if it was gone between": {
			turns: [][]store.Change{{put(kind, "a", "1"), put(kind, "b", "2")}, {gone(kind, "a"), put(kind, "a", "3")}},
			want:  []string{"b=2", "a=3"},
		},
		"gone and never there": {turns: [][]store.Change{{gone(kind, "a")}, {gone(kind, "")}}},
		"kinds apart": {
			turns: [][]store.Change{{put(kind, "a", "1"), put(other, "a", "2")}, {gone(kind, "a")}},
			other: []string{"a=2"},
		},
		"a kind that is gone": {
			turns: [][]store.Change{{put(kind, "a", "1"), put(kind, "b", "1"), put(other, "a", "2")},
				{gone(kind, ""), put(kind, "c", "3")}},
			want: []string{"c=3"}, other: []string{"a=2"},
		},
		"an id of any text": {
			turns: [][]store.Change{{put(kind, "a/b c\"é\n:€", "1")}},
			want:  []string{"a/b c\"é\n:€=1"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			opened := open(t)
			for _, turn := range test.turns {
				if err := opened.Commit(turn); err != nil {
					t.Fatal(err)
				}
			}
			for kind, want := range map[string][]string{kind: test.want, other: test.other} {
				if found := load(t, opened, kind); !slices.Equal(found, want) {
					t.Errorf("%s: found %q, want %q", kind, found, want)
				}
			}
		})
	}
	t.Run("a record as it was committed", func(t *testing.T) {
		opened, live := open(t), &record{Text: "before", Named: map[string]string{"a": "b"}}
		if err := opened.Commit([]store.Change{store.Put(kind, "a", live)}); err != nil {
			t.Fatal(err)
		}
		live.Text, live.Named["a"] = "after", "c"
		table := store.Open[record](store.NewKeeper(opened), kind)
		if kept := table.Get("a"); kept.Text != "before" || kept.Named["a"] != "b" {
			t.Errorf("found %v", kept)
		}
	})
	t.Run("all of a turn or nothing", func(t *testing.T) {
		opened := open(t)
		unencodable := store.Put(kind, "b", func() {})
		if err := opened.Commit([]store.Change{put(kind, "a", "1"), unencodable, put(other, "c", "2")}); err == nil {
			t.Fatal("a function was committed")
		}
		if found := append(load(t, opened, kind), load(t, opened, other)...); len(found) > 0 {
			t.Errorf("found %q", found)
		}
	})
	t.Run("an error of who loads", func(t *testing.T) {
		opened, stop := open(t), errors.New("stop")
		if err := opened.Commit([]store.Change{put(kind, "a", "1"), put(kind, "b", "2")}); err != nil {
			t.Fatal(err)
		}
		seen := 0
		err := opened.Load(kind, func(string, []byte) error { seen++; return stop })
		if !errors.Is(err, stop) || seen != 1 {
			t.Errorf("%v after %d", err, seen)
		}
	})
	t.Run("of parts at once", func(t *testing.T) {
		opened := open(t)
		fill(opened)
		inParallel(func(part string) {
			if found := load(t, opened, part); len(found) != 50 || found[49] != "49="+part {
				t.Errorf("%s: found %q", part, found)
			}
		})
	})
}

func inParallel(do func(part string)) {
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() { do(fmt.Sprint("storetest.", i)) })
	}
	all.Wait()
}

// load returns the records of a kind in their order, as id=text.
func load(t *testing.T, s store.Store, kind string) (found []string) {
	t.Helper()
	store.Open(store.NewKeeper(s), kind, func(id string, r *record) { found = append(found, id+"="+r.Text) })
	return found
}

// fill makes several parts commit 50 records each, concurrently.
func fill(opened store.Store) {
	inParallel(func(part string) {
		keeper := store.NewKeeper(opened)
		table := store.Open[record](keeper, part)
		for i := range 50 {
			table.Put(fmt.Sprint(i), &record{Text: part})
			keeper.Commit()
		}
	})
}

// Encoded is a store of bytes in memory, for tests: a second implementation. The zero store is empty and ready.
type Encoded struct {
	mu    sync.Mutex
	kinds map[string][]entry
}

type entry struct {
	id      string
	encoded []byte
	live    store.Change // the encoded change; its part may change the record in place
}

// Load implements [store.Store].
func (s *Encoded) Load(kind string, each func(id string, encoded []byte) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, kept := range s.kinds[kind] {
		if err := each(kept.id, slices.Clone(kept.encoded)); err != nil {
			return err
		}
	}
	return nil
}

// Commit implements [store.Store].
func (s *Encoded) Commit(changes []store.Change) error {
	encoded := make([][]byte, len(changes))
	for i, change := range changes {
		if change.Record == nil {
			continue
		}
		var err error
		if encoded[i], err = change.Encode(); err == nil {
			err = same(change, encoded[i])
		}
		if err != nil {
			return fmt.Errorf("%s %s: %w", change.Kind, change.ID(), err)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.kinds == nil {
		s.kinds = map[string][]entry{}
	}
	for i, change := range changes {
		s.apply(change, encoded[i])
	}
	return nil
}

// same checks that a record decodes to the same value.
func same(change store.Change, encoded []byte) error {
	change.Record = reflect.New(reflect.TypeOf(change.Record).Elem()).Interface()
	if err := json.Unmarshal(encoded, change.Record); err != nil {
		return err
	}
	if again, err := change.Encode(); err != nil || !bytes.Equal(again, encoded) {
		return fmt.Errorf("encodes as %s, and decodes to %s", encoded, again)
	}
	return nil
}

func (s *Encoded) apply(change store.Change, encoded []byte) {
	kept := s.kinds[change.Kind]
	at := slices.IndexFunc(kept, func(e entry) bool { return e.id == change.ID() })
	switch put := (entry{change.ID(), encoded, change}); {
	case change.ID() == "":
		delete(s.kinds, change.Kind)
	case change.Record == nil:
		if at >= 0 {
			s.kinds[change.Kind] = slices.Delete(kept, at, at+1)
		}
	case at >= 0:
		kept[at] = put
	default:
		s.kinds[change.Kind] = append(kept, put)
	}
}

// Len returns how many records of a kind are stored.
func (s *Encoded) Len(kind string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.kinds[kind])
}

// Stale lists the records that were changed in place and not put again. Call it while nobody changes records.
func (s *Encoded) Stale() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []string
	for kind, list := range s.kinds {
		for _, kept := range list {
			now, err := kept.live.Encode()
			if err != nil || !bytes.Equal(now, kept.encoded) {
				found = append(found, fmt.Sprintf("%s %s: kept %s, is %s", kind, kept.id, kept.encoded, now))
			}
		}
	}
	slices.Sort(found)
	return found
}
