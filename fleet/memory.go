package fleet

import (
	"context"
	"sync"
	"time"

	"github.com/moneymovement/moneymovement-go/internal/ratewindow"
)

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
