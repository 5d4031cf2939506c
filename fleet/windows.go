package fleet

import (
	"context"
	"sync"
	"time"

	"github.com/moneymovement/moneymovement-go/internal/ratewindow"
)

// Windows counts the calls of rate windows for all processes of a credential, by a clock of its own. [Memory] is one
// for a single process, and says by its code what exactly an Ask does. The packages fleet/redis and
// payments/postgres/fleetpostgres have one for many processes.
//
// Each Ask must be atomic: two at the same time have the effect of one after the other. It must be safe for concurrent
// use.
type Windows interface {
	// Reserve takes slots of a window, and gives back those that were not used.
	Reserve(ctx context.Context, ask Request) (Reservation, error)
}

// The places in [Request].Waiting and [Reservation].Others, in the order in which calls go.
const (
	Refreshes = ratewindow.Refreshes // calls of moneymovement.ClassRefresh
	Confirms  = ratewindow.Confirms  // calls of moneymovement.ClassConfirm
	Usual     = ratewindow.Usual     // all calls of other classes
	Polls     = ratewindow.Polls     // calls of moneymovement.ClassPoll
	ranks     = ratewindow.Ranks     // how many there are
)

// Request is a question of one process about one window.
type Request struct {
	Key     string        // of the window: the credential, its name and its scope
	Process string        // who asks, the same for all questions of a process
	Calls   int           // how many calls the window allows
	Held    time.Duration // in which time, which is how long a call counts
	Ahead   time.Duration // how long before its time a slot may be given out
	Waiting [ranks]int    // how many calls wait for slots
	Pressed bool          // one of the confirms may be too late unless confirms go first
	Overdue bool          // the first call goes now, with or without room
	Unused  []int64       // marks of slots to give back
	Log     string        // the log that the process knows, if calls of the process still count
	Past    []time.Duration
}

// Reservation is what a process may do now.
type Reservation struct {
	// Log names the log of the window. Another name than the one before means that the log was lost. The process then
	// asks again with its calls that still count, as Past: how long ago each was made.
	Log string
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

// store is a Windows as a limiter asks it.
type store struct{ windows Windows }

// Reserve implements ratewindow.Store.
func (s store) Ask(ctx context.Context, ask ratewindow.Ask) (ratewindow.Answer, error) {
	answer, err := s.windows.Reserve(ctx, Request(ask))
	return ratewindow.Answer{
		Log: answer.Log, Slots: slotsOf[ratewindow.Slot](answer.Slots), Next: answer.Next, Free: answer.Free,
		Others: answer.Others,
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

	mu   sync.Mutex
	logs map[string]*ratewindow.Log
}

// Reserve implements [Windows]. It never fails.
func (m *Memory) Reserve(_ context.Context, ask Request) (Reservation, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now
	if m.Now != nil {
		now = m.Now
	}
	if m.logs[ask.Key] == nil {
		if m.logs == nil {
			m.logs = map[string]*ratewindow.Log{}
		}
		m.logs[ask.Key] = new(ratewindow.Log)
	}
	question := ratewindow.Ask(ask)
	answer := m.logs[ask.Key].Take(now().UnixMicro(), &question)
	return Reservation{
		Log: answer.Log, Slots: slotsOf[Slot](answer.Slots), Next: answer.Next, Free: answer.Free,
		Others: answer.Others,
	}, nil
}
