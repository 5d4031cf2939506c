package fleet

import (
	"context"
	"sync"
	"time"

	"github.com/moneymovement/moneymovement-go/internal/ratewindow"
)

// Windows counts the calls of rate windows for all processes of a credential, by a clock of its own. [Memory] is one
// for a single process, and its code shows exactly what Reserve does. The packages fleet/redis and
// payments/postgres/fleetpostgres have one for many processes.
//
// Each Reserve must be atomic: two at the same time have the effect of one after the other. It must be safe for
// concurrent use.
type Windows interface {
	// Reserve takes slots of a window, and returns those that were not used.
	Reserve(ctx context.Context, request Request) (Reservation, error)
}

// The places in [Request].Waiting and [Reservation].Others, in the order in which calls go.
const (
	Refreshes = ratewindow.Refreshes // calls of moneymovement.ClassRefresh
	Confirms  = ratewindow.Confirms  // calls of moneymovement.ClassConfirm
	Usual     = ratewindow.Usual     // all calls of other classes
	Polls     = ratewindow.Polls     // calls of moneymovement.ClassPoll
	ranks     = ratewindow.Ranks     // how many there are
)

// Request is what one process asks of one window.
type Request struct {
	Key      string          // of the window: the credential, its name and its scope
	Process  string          // who asks, the same for all requests of a process
	Calls    int             // how many calls the window allows
	Span     time.Duration   // in which time, which is how long a call counts
	Ahead    time.Duration   // how long before its time a slot may be granted
	Waiting  [ranks]int      // how many calls wait for slots
	Pressed  bool            // one of the confirms may be too late unless confirms go first
	Overdue  bool            // the first call goes now, even if the window is full
	Unused   []int64         // marks of slots to give back
	WindowID string          // name of the window's state that the process knows, if calls of the process still count
	Past     []time.Duration // how long ago calls were made that the window may not know of
}

// Reservation is what a process may do now.
type Reservation struct {
	// WindowID names the state of the window. A new name means that the old state was lost. The process then asks again
	// with its calls that still count, as Past: how long ago each was made.
	WindowID string
	// Slots are those that the process may use, the first one first.
	Slots []Slot
	// Next says after which time to ask again, if calls still wait.
	Next time.Duration
	// Free says after which time there is room for the first call, the second, the fourth, the eighth and so on, up to
	// the whole window.
	Free []time.Duration
	// Others says how many calls of other processes wait.
	Others [ranks]int
}

// Slot is room for one call.
type Slot struct {
	Mark int64         // names the slot when it is given back
	In   time.Duration // when it may be used: after this time, and not much later
}

// store passes the requests of a limiter on to a Windows.
type store struct{ windows Windows }

// Reserve implements ratewindow.Store.
func (s store) Reserve(ctx context.Context, request ratewindow.Request) (ratewindow.Reservation, error) {
	reservation, err := s.windows.Reserve(ctx, Request(request))
	return ratewindow.Reservation{
		WindowID: reservation.WindowID, Slots: slotsOf[ratewindow.Slot](reservation.Slots), Next: reservation.Next,
		Free: reservation.Free, Others: reservation.Others,
	}, err
}

func slotsOf[To, From Slot | ratewindow.Slot](from []From) (to []To) {
	for _, slot := range from {
		to = append(to, To(slot))
	}
	return to
}

// Memory is the [Windows] of one process, for tests. The zero Memory is ready to use. It never forgets a window, so it
// is not meant for a program with any number of scopes.
type Memory struct {
	// Now is the clock. If it is nil, it is time.Now.
	Now func() time.Time

	mu      sync.Mutex
	windows map[string]*ratewindow.SharedWindow
}

// Reserve implements [Windows]. It never fails.
func (m *Memory) Reserve(_ context.Context, request Request) (Reservation, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now
	if m.Now != nil {
		now = m.Now
	}
	if m.windows[request.Key] == nil {
		if m.windows == nil {
			m.windows = map[string]*ratewindow.SharedWindow{}
		}
		m.windows[request.Key] = new(ratewindow.SharedWindow)
	}
	reservation := m.windows[request.Key].Reserve(now().UnixMicro(), new(ratewindow.Request(request)))
	return Reservation{
		WindowID: reservation.WindowID, Slots: slotsOf[Slot](reservation.Slots), Next: reservation.Next,
		Free: reservation.Free, Others: reservation.Others,
	}, nil
}
