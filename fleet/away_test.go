package fleet_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/fleet"
)

var errDown = errors.New("the server is down")

// failing is a store that can go away, lose its log, and be slow.
type failing struct {
	mu     sync.Mutex
	memory *fleet.Memory
	down   bool
	hangs  bool
	slow   time.Duration
	asks   []time.Time
}

func (f *failing) Reserve(ctx context.Context, ask fleet.Request) (fleet.Reservation, error) {
	f.mu.Lock()
	f.asks = append(f.asks, time.Now())
	down, hangs, slow, memory := f.down, f.hangs, f.slow, f.memory
	f.mu.Unlock()
	if hangs {
		<-ctx.Done()
		return fleet.Reservation{}, ctx.Err()
	}
	if down {
		return fleet.Reservation{}, errDown
	}
	time.Sleep(slow / 2)
	answer, err := memory.Reserve(ctx, ask)
	time.Sleep(slow / 2)
	return answer, err
}

func (f *failing) set(change func(*failing)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change(f)
}

// While the store is away, calls wait for it for a moment, and then fail with a clear error. It is asked rarely.
func TestCallsFailWhileTheStoreIsAway(t *testing.T) {
	for name, breaks := range map[string]func(*failing){
		"down":  func(f *failing) { f.down = true },
		"hangs": func(f *failing) { f.hangs = true },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := &failing{memory: new(fleet.Memory)}
				breaks(store)
				limiter := newLimiter(t, store, allow(120, time.Minute))
				began := time.Now()
				var all sync.WaitGroup
				for range 50 {
					all.Go(func() {
						for time.Since(began) < time.Minute {
							err := take(t.Context(), limiter, moneymovement.ClassWrite)
							var away *fleet.StoreUnavailable
							if !assert.ErrorAs(t, err, &away) {
								return
							}
							assert.Equal(t, moneymovement.Window("w"), away.Window)
							assert.LessOrEqual(t, time.Since(began), time.Minute+5*time.Second)
							time.Sleep(100 * time.Millisecond)
						}
					})
				}
				all.Wait()
				assert.Less(t, len(store.asks), 90, "50 callers for a minute")

				store.set(func(f *failing) { f.down, f.hangs = false, false })
				time.Sleep(10 * time.Second)
				asked := len(store.asks)
				require.NoError(t, take(t.Context(), limiter, moneymovement.ClassWrite))
				assert.Len(t, store.asks, asked+1)
			})
		})
	}
}

func TestAStoreThatComesBackWithinTheCallsPatience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &failing{memory: new(fleet.Memory), down: true}
		limiter := newLimiter(t, store, allow(120, time.Minute), fleet.WithPatience(10*time.Second))
		began := time.Now()
		time.AfterFunc(5*time.Second, func() { store.set(func(f *failing) { f.down = false }) })
		require.NoError(t, take(t.Context(), limiter, moneymovement.ClassWrite))
		assert.Less(t, time.Since(began), 10*time.Second)
	})
}

// The error says which window and why.
func TestTheErrorOfAStoreThatIsAway(t *testing.T) {
	err := &fleet.StoreUnavailable{Window: moneymovement.WindowWrites, Err: errDown}
	assert.ErrorContains(t, err, "the store of rate window writes cannot be used: the server is down")
	assert.ErrorIs(t, err, errDown)
}

// With a share, each process goes on with its part of the window while the store is away. Neither then, nor when the
// store comes back, is there more than the window, for each process knows how full it was and says what it did.
func TestAShareWhileTheStoreIsAway(t *testing.T) {
	const processes = 8
	synctest.Test(t, func(t *testing.T) {
		store := &failing{memory: new(fleet.Memory)}
		outages := []time.Duration{30 * time.Second, 200 * time.Second, 290 * time.Second, 700 * time.Second}
		for i, after := range outages {
			time.AfterFunc(after, func() { store.set(func(f *failing) { f.down = i%2 == 0 }) })
		}
		ctx, cancel := context.WithTimeout(t.Context(), 20*counted)
		defer cancel()
		var mu sync.Mutex
		var at []admission
		var all sync.WaitGroup
		began := time.Now()
		for range processes {
			limiter := newLimiter(t, store, allow(120, time.Minute), fleet.WithShareWhileUnavailable(processes))
			for range 40 {
				all.Go(func() {
					for take(ctx, limiter, moneymovement.ClassWrite) == nil {
						mu.Lock()
						at = append(at, admission{at: time.Since(began)})
						mu.Unlock()
					}
				})
			}
		}
		all.Wait()
		assert.LessOrEqual(t, most(at, counted-time.Second), 120)
		assert.GreaterOrEqual(t, len(at), 20*120*95/100)
		asked := 0
		for _, at := range store.asks {
			if since := at.Sub(began); since > 300*time.Second && since < 700*time.Second {
				asked++
			}
		}
		assert.Less(t, asked, processes*500, "each process asks about once a second")
		assert.Positive(t, asked)
	})
}

// A log that is lost under load, as in a failover, is made again from what the processes say.
func TestALogThatIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &failing{memory: new(fleet.Memory)}
		for i := range 10 {
			time.AfterFunc(time.Duration(i)*counted*3/2+30*time.Second, func() {
				store.set(func(f *failing) { f.memory = new(fleet.Memory) })
			})
		}
		at := load(t, store, 16, 0)
		assert.LessOrEqual(t, most(at, counted-microseconds), 120)
		assert.GreaterOrEqual(t, len(at), 20*120*90/100)
	})
}

// Slots that arrive late are not used: the service would count the calls later than the store does.
func TestAStoreThatIsSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &failing{memory: new(fleet.Memory), slow: 1200 * time.Millisecond}
		limiter := newLimiter(t, store, allow(120, time.Minute))
		var away *fleet.StoreUnavailable
		require.ErrorAs(t, take(t.Context(), limiter, moneymovement.ClassWrite), &away)
		require.ErrorContains(t, away, "responds too slowly")

		store.set(func(f *failing) { f.slow = 400 * time.Millisecond })
		time.Sleep(10 * time.Second)
		began := time.Now()
		require.NoError(t, take(t.Context(), limiter, moneymovement.ClassWrite))
		assert.Equal(t, 400*time.Millisecond, time.Since(began))
	})
}

// The clock of the store may be set back or ahead: after at most one window, calls go on.
func TestTheStoresClockIsSet(t *testing.T) {
	for name, by := range map[string]time.Duration{"back": -time.Hour, "ahead": time.Hour} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var set time.Duration
				windows := &fleet.Memory{Now: func() time.Time { return time.Now().Add(set) }}
				limiter := newLimiter(t, windows, allow(3, time.Minute))
				for range 3 {
					require.NoError(t, take(t.Context(), limiter, moneymovement.ClassWrite))
				}
				set = by
				began := time.Now()
				require.NoError(t, take(t.Context(), limiter, moneymovement.ClassWrite))
				assert.LessOrEqual(t, time.Since(began), counted+time.Second)
			})
		})
	}
}
