package fleet_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/fleet"
)

type counting struct {
	fleet.Windows
	asks, slots int
	mu          sync.Mutex
}

func (c *counting) Reserve(ctx context.Context, ask fleet.Request) (fleet.Reservation, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	answer, err := c.Windows.Reserve(ctx, ask)
	c.asks++
	c.slots += len(answer.Slots)
	return answer, err
}

// load fills a window from many processes for 20 periods, and returns when each call was admitted.
func load(t *testing.T, windows fleet.Windows, processes int, apart time.Duration) (at []admission) {
	t.Helper()
	const callers = 400
	ctx, cancel := context.WithTimeout(t.Context(), 20*counted)
	defer cancel()
	var mu sync.Mutex
	var all sync.WaitGroup
	began := time.Now()
	for range processes {
		limiter := newLimiter(t, windows, allow(120, time.Minute))
		for range callers / processes {
			all.Go(func() {
				for take(ctx, limiter, moneymovement.ClassWrite) == nil {
					mu.Lock()
					at = append(at, admission{at: time.Since(began)})
					mu.Unlock()
				}
			})
		}
		time.Sleep(apart)
	}
	all.Wait()
	return at
}

// Full windows are used in full, with about one question for each call or fewer, whatever the number of processes.
func TestAFullWindowIsUsed(t *testing.T) {
	for _, processes := range []int{1, 2, 8, 16, 40} {
		for name, apart := range map[string]time.Duration{"at once": 0, "apart": counted / time.Duration(processes)} {
			t.Run(fmt.Sprint(processes, " ", name), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					windows := &counting{Windows: new(fleet.Memory)}
					at := load(t, windows, processes, apart)
					assert.LessOrEqual(t, most(at, counted-microseconds), 120)
					assert.GreaterOrEqual(t, len(at), 20*120*98/100)
					assert.Less(t, float64(windows.asks)/float64(len(at)), 1.2)
				})
			})
		}
	}
}
