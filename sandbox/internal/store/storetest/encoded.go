package storetest

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"sync"

	"github.com/go-json-experiment/json"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/store"
)

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

// same returns an error for a record that does not decode to the same value.
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
