// Package fault holds scripted faults: what goes wrong, for which requests, how often, and how often it has happened.
package fault

import (
	"encoding"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/store"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
)

// Kind is what goes wrong.
type Kind string

// The kinds of fault.
const (
	// DropBefore closes the connection before the operation runs.
	DropBefore Kind = "drop_before"
	// DropAfterCommit runs the operation and closes the connection without a response.
	DropAfterCommit Kind = "drop_after_commit"
	// Respond sends a refusal, or any other scripted response, in place of the operation's.
	Respond Kind = "respond"
	// Garbage sends an HTML page, as a proxy does.
	Garbage Kind = "garbage"
	// Truncate runs the operation and cuts the body of its response short.
	Truncate Kind = "truncate"
	// Delay waits, then lets the request through.
	Delay Kind = "delay"
	// ExpireToken expires the request's access token before it is checked.
	ExpireToken Kind = "expire_token"
	// DeliverTwice makes the request arrive a second time, and drops the second response.
	DeliverTwice Kind = "duplicate"
	// ProxyRetry makes the request arrive a second time, and drops the first response.
	ProxyRetry Kind = "repeat"
	// MisroutedResponse sends an earlier response of the same operation to another request.
	MisroutedResponse Kind = "foreign"
)

var kinds = []Kind{DropBefore, DropAfterCommit, Respond, Garbage, Truncate, Delay, ExpireToken, DeliverTwice,
	ProxyRetry, MisroutedResponse}

// Fault is one thing that goes wrong.
type Fault struct {
	Kind Kind `json:"kind"`

	// The response of Respond and Garbage. Code and Message make an envelope. Body, if it is set, is sent instead.
	Status  int               `json:"status,omitzero"`
	Code    string            `json:"code,omitzero"`
	Message string            `json:"message,omitzero"`
	Details map[string]any    `json:"details,omitzero"`
	Headers map[string]string `json:"headers,omitzero"`
	Body    string            `json:"body,omitzero"`
	// AfterCommit runs the operation first. Respond, Garbage and MisroutedResponse do not send its response. Delay
	// sends it late.
	AfterCommit bool `json:"afterCommit,omitzero"`

	// The duration of Delay, on the machine's clock.
	Delay Duration `json:"delay,omitzero"`
	// For DeliverTwice, when the request arrives again, on the host's clock. Zero means at once.
	After Duration `json:"after,omitzero"`
	// For MisroutedResponse, whether the response is one to another account, and not to the same account.
	OtherAccount bool `json:"otherAccount,omitzero"`
	// For Truncate, how many bytes of the body are sent. Zero means half of it.
	Keep int `json:"keep,omitzero"`
}

// Check refuses a fault that could never happen, and a fault with a member that its kind does not use.
func (f Fault) Check() error {
	switch f.Kind {
	case DropBefore, DropAfterCommit, Garbage, ExpireToken, ProxyRetry, MisroutedResponse:
	case DeliverTwice:
		if f.After < 0 {
			return wire.InvalidField("fault.after", "greater_than_equal", "after must not be negative.")
		}
	case Respond:
		if f.Status < 200 || f.Status > 599 {
			return wire.InvalidField("fault.status", "out_of_range", "The status must be from 200 to 599.")
		}
	case Truncate:
		if f.Keep < 0 {
			return wire.InvalidField("fault.keep", "greater_than_equal", "keep must not be negative.")
		}
	case Delay:
		if f.Delay <= 0 {
			return wire.InvalidField("fault.delay", "greater_than", `A delay must be more than 0, such as "250ms".`)
		}
	default:
		return wire.InvalidField("fault.kind", "enum",
			fmt.Sprintf("A fault has one of these kinds: %s.", kinds))
	}
	for _, member := range []struct {
		name string
		set  bool
		of   []Kind
	}{
		{"status", f.Status != 0, []Kind{Respond, Garbage}},
		{"code", f.Code != "", []Kind{Respond}},
		{"message", f.Message != "", []Kind{Respond}},
		{"details", len(f.Details) > 0, []Kind{Respond}},
		{"headers", len(f.Headers) > 0, []Kind{Respond}},
		{"body", f.Body != "", []Kind{Respond}},
		{"afterCommit", f.AfterCommit, []Kind{Respond, Garbage, MisroutedResponse, Delay}},
		{"after", f.After != 0, []Kind{DeliverTwice}},
		{"otherAccount", f.OtherAccount, []Kind{MisroutedResponse}},
		{"delay", f.Delay != 0, []Kind{Delay}},
		{"keep", f.Keep != 0, []Kind{Truncate}},
	} {
		if member.set && !slices.Contains(member.of, f.Kind) {
			return wire.InvalidField("fault."+member.name, "extra_forbidden",
				fmt.Sprintf("A fault of kind %s does not use it.", f.Kind))
		}
	}
	return nil
}

// RunsOperation reports whether the operation runs although its response is lost or replaced.
func (f Fault) RunsOperation() bool {
	switch f.Kind {
	case DropBefore:
		return false
	case Respond, Garbage, MisroutedResponse:
		return f.AfterCommit
	default:
		return true
	}
}

// Duration is written as Go writes durations: "1m30s".
type Duration time.Duration

var (
	_ encoding.TextMarshaler   = Duration(0)
	_ encoding.TextUnmarshaler = (*Duration)(nil)
)

// MarshalText writes it as "1m30s".
func (d Duration) MarshalText() ([]byte, error) {
	return []byte(time.Duration(d).String()), nil
}

// UnmarshalText reads what [time.ParseDuration] reads.
func (d *Duration) UnmarshalText(text []byte) error {
	parsed, err := time.ParseDuration(string(text))
	*d = Duration(parsed)
	return err
}

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
func NewSet(backend store.Store) *Set {
	s := &Set{keeper: store.NewKeeper(backend)}
	s.kept = store.Open(s.keeper, "fault.armed", func(_ string, armed *Armed) {
		s.armed, s.waiting = append(s.armed, armed), append(s.waiting, armed)
	})
	s.ids = store.Open[ids](s.keeper, "fault.ids")
	return s
}

// Revision is a number that grows with each change of the faults.
func (s *Set) Revision() int64 { return s.keeper.Revision() }

// commit stores what has changed, and releases the lock.
func (s *Set) commit() {
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
	defer s.commit()
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
	defer s.commit()
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
	defer s.commit()
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
	defer s.commit()
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
	defer s.commit()
	s.kept.Clear()
	s.armed, s.waiting = nil, nil
}
