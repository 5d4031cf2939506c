package fault

import (
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Armed is a fault that waits for its requests.
type Armed struct {
	ID       string `json:"id"`
	Method   string `json:"method,omitzero"` // empty: every method
	Path     string `json:"path"`
	Times    int    `json:"times"`
	Consumed int    `json:"consumed"` // how often it happened so far
	Fault    Fault  `json:"fault"`
}

// Set holds the armed faults, in the order of arming. The zero Set is empty and
// ready. It is safe for concurrent use.
type Set struct {
	mu    sync.Mutex
	last  int
	armed []Armed
}

// Arm adds a fault for the next times requests of the method (empty: any) and
// path. In the path, * and {name} stand for one segment and a last ** for all
// that follow. Times below 1 counts as 1. A fault that could not happen is
// refused with validation_failed.
func (s *Set) Arm(method, path string, times int, f Fault) (Armed, error) {
	if err := f.Check(); err != nil {
		return Armed{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last++
	armed := Armed{
		ID: fmt.Sprintf("flt_%d", s.last), Method: strings.ToUpper(method), Path: path,
		Times: max(times, 1), Fault: f,
	}
	s.armed = append(s.armed, armed)
	return armed, nil
}

// Take consumes the first armed fault that matches the request.
func (s *Set) Take(method, path string) (Fault, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.armed {
		armed := &s.armed[i]
		if armed.Consumed < armed.Times && (armed.Method == "" || armed.Method == method) && Matches(armed.Path, path) {
			armed.Consumed++
			return armed.Fault, true
		}
	}
	return Fault{}, false
}

// Get answers an armed fault by its id.
func (s *Set) Get(id string) (Armed, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, armed := range s.armed {
		if armed.ID == id {
			return armed, true
		}
	}
	return Armed{}, false
}

// List answers every fault that was armed, consumed or not.
func (s *Set) List() []Armed {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.armed)
}

// Records is how many faults were armed.
func (s *Set) Records() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.armed)
}

// Clear disarms everything and forgets what was consumed. Ids are not given out
// again.
func (s *Set) Clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.armed = nil
}
