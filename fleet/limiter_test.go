package fleet_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/fleet"
	"github.com/moneymovement/moneymovement-go/internal/ratewindow"
)

const counted = 61 * time.Second // how long a call of a window of a minute counts

func allow(calls int, per time.Duration) fleet.Option {
	return fleet.WithWindow("w", moneymovement.Allowance{Calls: calls, Per: per})
}

func take(ctx context.Context, limiter moneymovement.RateLimiter, class moneymovement.RateClass) error {
	return limiter.Wait(ctx, moneymovement.RateCall{Window: "w", Class: class})
}

func TestALimiterNeedsAStoreAndAName(t *testing.T) {
	for field, made := range map[string]func() (*fleet.Limiter, error){
		"windows":    func() (*fleet.Limiter, error) { return fleet.NewLimiter(nil, credential) },
		"credential": func() (*fleet.Limiter, error) { return fleet.NewLimiter(new(fleet.Memory), "") },
	} {
		_, err := made()
		var invalid *errors.InvalidInput
		require.ErrorAs(t, err, &invalid, field)
		assert.Equal(t, field, invalid.Fields[0].Field)
	}
}

func TestCallsThatNoWindowCounts(t *testing.T) {
	windows := &counting{Windows: new(fleet.Memory)}
	limiter := newLimiter(t, windows, allow(0, time.Minute))
	for _, window := range []moneymovement.Window{"w", "", "unknown"} {
		require.NoError(t, limiter.Wait(t.Context(), moneymovement.RateCall{Window: window}))
	}
	assert.Zero(t, windows.asks)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, take(ended, limiter, moneymovement.ClassRead), context.Canceled)
	//lint:ignore SA1012 a nil context is what is tested
	require.Error(t, limiter.Wait(nil, moneymovement.RateCall{})) //nolint:staticcheck // as above
}

// A call whose slot comes after its deadline, or after its approval expires, is refused at once.
func TestCallThatCannotMeetItsDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		windows := new(fleet.Memory)
		other, limiter := newLimiter(t, windows, allow(2, time.Minute)), newLimiter(t, windows, allow(2, time.Minute))
		began := time.Now()
		require.NoError(t, take(t.Context(), other, moneymovement.ClassWrite))
		require.NoError(t, take(t.Context(), other, moneymovement.ClassWrite))

		soon, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		err := take(soon, limiter, moneymovement.ClassWrite)
		var windowFull *moneymovement.WindowFull
		require.ErrorAs(t, err, &windowFull)
		assert.False(t, windowFull.Closed)
		assert.Equal(t, moneymovement.Window("w"), windowFull.Window)
		assert.WithinDuration(t, began.Add(counted), windowFull.Until, time.Millisecond)
		require.ErrorIs(t, err, context.DeadlineExceeded)

		err = limiter.Wait(t.Context(), moneymovement.RateCall{Window: "w", Class: moneymovement.ClassConfirm,
			Closes: began.Add(40 * time.Second)})
		require.ErrorAs(t, err, &windowFull)
		assert.True(t, windowFull.Closed)
		assert.NotErrorIs(t, err, context.DeadlineExceeded)
		assert.Zero(t, time.Since(began))

		require.NoError(t, limiter.Wait(t.Context(), moneymovement.RateCall{Window: "w",
			Class: moneymovement.ClassConfirm, Closes: began.Add(70 * time.Second)}))
		assert.WithinDuration(t, began.Add(counted), time.Now(), time.Millisecond)
	})
}

// A confirm that other processes keep from its slot is refused when its approval expires.
func TestConfirmThatExpiresInTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		windows := new(fleet.Memory)
		other, limiter := newLimiter(t, windows, allow(1, time.Minute)), newLimiter(t, windows, allow(1, time.Minute))
		began := time.Now()
		require.NoError(t, take(t.Context(), other, moneymovement.ClassWrite))
		var line sync.WaitGroup
		line.Go(func() {
			err := limiter.Wait(t.Context(), moneymovement.RateCall{Window: "w", Class: moneymovement.ClassConfirm,
				Closes: began.Add(70 * time.Second)})
			var windowFull *moneymovement.WindowFull
			assert.ErrorAs(t, err, &windowFull)
			assert.True(t, windowFull.Closed)
			assert.LessOrEqual(t, time.Since(began), 70*time.Second)
		})
		synctest.Wait()
		line.Go(func() { assert.NoError(t, take(t.Context(), other, moneymovement.ClassRefresh)) })
		line.Wait()
	})
}

// The classes go in their order, also between processes, and each that waits gets a tenth.
func TestClassesOfManyProcesses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		windows := new(fleet.Memory)
		first := newLimiter(t, windows, allow(20, time.Minute))
		for range 20 {
			require.NoError(t, take(t.Context(), first, moneymovement.ClassWrite))
			time.Sleep(time.Second)
		}
		var mu sync.Mutex
		var went []moneymovement.RateClass
		var line sync.WaitGroup
		for _, class := range []moneymovement.RateClass{moneymovement.ClassPoll, moneymovement.ClassRead,
			moneymovement.ClassConfirm, moneymovement.ClassRefresh} {
			for range 2 { // two processes of each class
				limiter := newLimiter(t, windows, allow(20, time.Minute))
				for range 5 {
					line.Go(func() {
						assert.NoError(t, take(t.Context(), limiter, class))
						mu.Lock()
						defer mu.Unlock()
						went = append(went, class)
					})
				}
			}
			synctest.Wait()
		}
		line.Wait()
		place := map[moneymovement.RateClass]int{} // the mean of a class's places
		for i, class := range went {
			place[class] += i
		}
		assert.Less(t, place[moneymovement.ClassRefresh], place[moneymovement.ClassConfirm])
		assert.Less(t, place[moneymovement.ClassConfirm], place[moneymovement.ClassRead])
		assert.Less(t, place[moneymovement.ClassRead], place[moneymovement.ClassPoll])
		assert.Positive(t, count(went[:14], moneymovement.ClassRead), "a tenth for reads")
	})
}

func count(classes []moneymovement.RateClass, class moneymovement.RateClass) (number int) {
	for _, c := range classes {
		if c == class {
			number++
		}
	}
	return number
}

// Polls of all processes together leave a tenth of the window free, where a read finds room at once.
func TestPollsOfManyProcessesLeaveATenth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		windows := new(fleet.Memory)
		polling, cancel := context.WithCancel(t.Context())
		var polls sync.WaitGroup
		var mu sync.Mutex
		polled := 0
		for range 3 {
			limiter := newLimiter(t, windows, allow(20, time.Minute))
			for range 10 {
				polls.Go(func() {
					if take(polling, limiter, moneymovement.ClassPoll) == nil {
						mu.Lock()
						polled++
						mu.Unlock()
					}
				})
			}
		}
		synctest.Wait()
		time.Sleep(10 * time.Second)
		assert.Equal(t, 18, polled)
		began := time.Now()
		reads := newLimiter(t, windows, allow(20, time.Minute))
		require.NoError(t, take(t.Context(), reads, moneymovement.ClassRead))
		require.NoError(t, take(t.Context(), reads, moneymovement.ClassRead))
		assert.Zero(t, time.Since(began))
		cancel()
		polls.Wait()
	})
}

// The slot of a call that gives up goes to another call, of its own process or of another.
func TestUnusedSlotIsReturned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		windows := new(fleet.Memory)
		a, b := newLimiter(t, windows, allow(1, time.Minute)), newLimiter(t, windows, allow(1, time.Minute))
		began := time.Now()
		require.NoError(t, take(t.Context(), a, moneymovement.ClassWrite))
		gives, cancel := context.WithCancel(t.Context())
		var line sync.WaitGroup
		line.Go(func() { assert.ErrorIs(t, take(gives, a, moneymovement.ClassWrite), context.Canceled) })
		time.Sleep(counted - 10*time.Millisecond) // a has asked ahead, and has the slot
		cancel()
		line.Wait()
		require.NoError(t, take(t.Context(), b, moneymovement.ClassWrite))
		assert.Less(t, time.Since(began), counted*3/2+time.Second)
		assert.GreaterOrEqual(t, time.Since(began), counted)
	})
}

// The first call in a window of an hour does not wait for an hour: the service decides.
func TestFullHourWindowAdmitsACallAfterTheLongestWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limiter := newLimiter(t, new(fleet.Memory), allow(2, time.Hour))
		began := time.Now()
		for range 2 {
			require.NoError(t, take(t.Context(), limiter, moneymovement.ClassWrite))
		}
		require.NoError(t, take(t.Context(), limiter, moneymovement.ClassWrite))
		assert.Equal(t, ratewindow.LongestWait, time.Since(began))
		require.NoError(t, take(t.Context(), limiter, moneymovement.ClassWrite))
		assert.Equal(t, 2*ratewindow.LongestWait, time.Since(began))
	})
}

// recording notes the requests.
type recording struct {
	fleet.Windows
	mu   sync.Mutex
	keys []string
}

func (r *recording) Reserve(ctx context.Context, request fleet.Request) (fleet.Reservation, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.keys = append(r.keys, request.Key)
	return r.Windows.Reserve(ctx, request)
}

// Windows are counted by their name and scope. The name of a key shows no email.
func TestEachScopeIsAWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		windows := &recording{Windows: new(fleet.Memory)}
		limiter := newLimiter(t, windows)
		for i := range 300 { // more than are kept
			require.NoError(t, limiter.Wait(t.Context(), moneymovement.RateCall{Window: moneymovement.WindowLoginEmail,
				Scope: fmt.Sprintf("ops%d@example.com", i), Class: moneymovement.ClassLogin}))
			time.Sleep(3 * time.Second)
		}
		require.NoError(t, limiter.Wait(t.Context(), moneymovement.RateCall{Window: moneymovement.WindowWrites}))
		seen := map[string]bool{}
		for _, key := range windows.keys {
			seen[key] = true
			assert.NotContains(t, key, "@")
			assert.True(t, strings.HasPrefix(key, credential+":"), key)
		}
		assert.Len(t, seen, 301)
		assert.Contains(t, seen, credential+":writes")
	})
}

var errDown = errors.New("the server is down")

// failing is a store that can become unavailable, lose a window, and be slow.
type failing struct {
	mu     sync.Mutex
	memory *fleet.Memory
	down   bool
	hangs  bool
	slow   time.Duration
	asks   []time.Time
}

func (f *failing) Reserve(ctx context.Context, request fleet.Request) (fleet.Reservation, error) {
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
	reservation, err := memory.Reserve(ctx, request)
	time.Sleep(slow / 2)
	return reservation, err
}

func (f *failing) set(change func(*failing)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change(f)
}

// While the store is unavailable, calls wait for it for a moment, and then fail with a clear error. It is asked rarely.
func TestCallsFailWhileTheStoreIsUnavailable(t *testing.T) {
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
							var unavailable *fleet.StoreUnavailable
							if !assert.ErrorAs(t, err, &unavailable) {
								return
							}
							assert.Equal(t, moneymovement.Window("w"), unavailable.Window)
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

func TestStoreThatRecoversWithinThePatience(t *testing.T) {
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
func TestStoreUnavailableError(t *testing.T) {
	err := &fleet.StoreUnavailable{Window: moneymovement.WindowWrites, Err: errDown}
	assert.ErrorContains(t, err, "the store of rate window writes cannot be used: the server is down")
	assert.ErrorIs(t, err, errDown)
}

// With a share, each process goes on with its part of the window while the store is unavailable. Neither then, nor when
// the store comes back, is there more than the window, for each process knows how full it was and says what it did.
func TestShareWhileTheStoreIsUnavailable(t *testing.T) {
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

// A window that is lost under load, as in a failover, is made again from what the processes say.
func TestWindowThatTheStoreHasLost(t *testing.T) {
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
		var unavailable *fleet.StoreUnavailable
		require.ErrorAs(t, take(t.Context(), limiter, moneymovement.ClassWrite), &unavailable)
		require.ErrorContains(t, unavailable, "responds too slowly")

		store.set(func(f *failing) { f.slow = 400 * time.Millisecond })
		time.Sleep(10 * time.Second)
		began := time.Now()
		require.NoError(t, take(t.Context(), limiter, moneymovement.ClassWrite))
		assert.Equal(t, 400*time.Millisecond, time.Since(began))
	})
}

// The clock of the store may be set back or ahead: after at most one window, calls go on.
func TestStoreClockIsSet(t *testing.T) {
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

type counting struct {
	fleet.Windows
	asks, slots int
	mu          sync.Mutex
}

func (c *counting) Reserve(ctx context.Context, request fleet.Request) (fleet.Reservation, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	reservation, err := c.Windows.Reserve(ctx, request)
	c.asks++
	c.slots += len(reservation.Slots)
	return reservation, err
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

// Full windows are used in full, with about one request for each call or fewer, whatever the number of processes.
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
