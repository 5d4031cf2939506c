package fault

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/store"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
)

// Armed is a fault that waits for its requests.
type Armed struct {
	ID       string `json:"id"`
	Method   string `json:"method,omitzero"` // "" for every method
	Path     string `json:"path"`
	Times    int    `json:"times"`
	Consumed int    `json:"consumed"` // how often it has happened
	Disarmed bool   `json:"disarmed,omitzero"`
	Fault    Fault  `json:"fault"`
}

// Remaining returns how often it will still happen.
func (a Armed) Remaining() int {
	if a.Disarmed {
		return 0
	}
	return a.Times - a.Consumed
}

// Set holds the armed faults, in the order of arming. It is safe for concurrent
// use.
type Set struct {
	mu     sync.Mutex
	keeper *store.Keeper
	kept   *store.Table[Armed]
	ids    *store.Table[ids]
	armed  []*Armed
	// waiting are the armed faults that will still happen.
	waiting []*Armed
}

// ids has the number in the last fault's id.
type ids struct{ Last int }

// NewSet returns a Set with the stored faults.
func NewSet(kept store.Store) *Set {
	s := &Set{keeper: store.NewKeeper(kept)}
	s.kept = store.Open(s.keeper, "fault.armed", func(_ string, armed *Armed) {
		s.armed, s.waiting = append(s.armed, armed), append(s.waiting, armed)
	})
	s.ids = store.Open[ids](s.keeper, "fault.ids")
	return s
}

// Revision is a number that grows with each change of the faults.
func (s *Set) Revision() int64 { return s.keeper.Revision() }

// leave stores what has changed, and releases the lock.
func (s *Set) leave() {
	defer s.mu.Unlock()
	s.keeper.Commit()
}

// next returns the id of the next fault. It must be called with the lock held.
func (s *Set) next() string {
	given := s.ids.Get("flt")
	if given == nil {
		given = &ids{}
	}
	given.Last++
	s.ids.Put("flt", given)
	return fmt.Sprintf("flt_%d", given.Last)
}

// Arm adds a fault for the next times requests with this method ("" for any) and path. In the path, * and {name} stand
// for one segment, and a last ** for all segments that follow. Times 0 means 1. A fault that could never happen is
// refused with validation_failed. [Operations.Check] reports whether there are such requests.
func (s *Set) Arm(method, path string, times int, f Fault) (Armed, error) {
	if times < 0 {
		return Armed{}, wire.InvalidField("times", "greater_than_equal", "times must not be negative.")
	}
	if err := f.Check(); err != nil {
		return Armed{}, err
	}
	s.mu.Lock()
	defer s.leave()
	armed := &Armed{
		ID: s.next(), Method: strings.ToUpper(method), Path: path,
		Times: max(times, 1), Fault: f,
	}
	s.armed, s.waiting = append(s.armed, armed), append(s.waiting, armed)
	s.kept.Put(armed.ID, armed)
	return *armed, nil
}

// Take consumes the first armed fault that matches the request, and that is possible.
func (s *Set) Take(method, path string, possible func(Fault) bool) (Fault, bool) {
	s.mu.Lock()
	defer s.leave()
	for i, armed := range s.waiting {
		matches := (armed.Method == "" || armed.Method == method) && Matches(armed.Path, path)
		if armed.Remaining() == 0 || !matches || !possible(armed.Fault) {
			continue
		}
		armed.Consumed++
		s.kept.Put(armed.ID, armed)
		if armed.Remaining() == 0 { // so that faults that have happened cost nothing
			s.waiting = slices.Delete(s.waiting, i, i+1)
		}
		return armed.Fault, true
	}
	return Fault{}, false
}

// Disarm stops a fault. The fault stays in the list with its count. Disarm reports whether there is such a fault.
func (s *Set) Disarm(id string) bool {
	s.mu.Lock()
	defer s.leave()
	armed := s.kept.Get(id)
	if armed == nil {
		return false
	}
	s.disarm(armed)
	s.waiting = slices.DeleteFunc(s.waiting, func(waiting *Armed) bool { return waiting == armed })
	return true
}

// DisarmAll disarms every fault.
func (s *Set) DisarmAll() {
	s.mu.Lock()
	defer s.leave()
	for _, armed := range s.armed {
		s.disarm(armed)
	}
	s.waiting = nil
}

// disarm must be called with the lock held.
func (s *Set) disarm(armed *Armed) {
	armed.Disarmed = true
	s.kept.Put(armed.ID, armed)
}

// Get returns an armed fault by its id.
func (s *Set) Get(id string) (Armed, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if armed := s.kept.Get(id); armed != nil {
		return *armed, true
	}
	return Armed{}, false
}

// List returns every fault that was armed, also those that will not happen any more.
func (s *Set) List() []Armed {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]Armed, len(s.armed))
	for i, armed := range s.armed {
		list[i] = *armed
	}
	return list
}

// Records returns how many faults were armed.
func (s *Set) Records() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.armed)
}

// Clear deletes every fault and its count. Their ids are not used again.
func (s *Set) Clear() {
	s.mu.Lock()
	defer s.leave()
	s.kept.Clear()
	s.armed, s.waiting = nil, nil
}
