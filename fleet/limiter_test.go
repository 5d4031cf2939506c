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

// A call whose turn comes after its deadline, or after its approval expires, is refused at once.
func TestACallThatWouldBeTooLate(t *testing.T) {
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
func TestAConfirmThatClosesInLine(t *testing.T) {
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
func TestASlotThatIsNotUsedComesBack(t *testing.T) {
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
func TestAWindowOfAnHourStopsNobodyForAnHour(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limiter := newLimiter(t, new(fleet.Memory), allow(2, time.Hour))
		began := time.Now()
		for range 2 {
			require.NoError(t, take(t.Context(), limiter, moneymovement.ClassWrite))
		}
		require.NoError(t, take(t.Context(), limiter, moneymovement.ClassWrite))
		assert.Equal(t, ratewindow.LongestTurn, time.Since(began))
		require.NoError(t, take(t.Context(), limiter, moneymovement.ClassWrite))
		assert.Equal(t, 2*ratewindow.LongestTurn, time.Since(began))
	})
}

// recording notes the questions.
type recording struct {
	fleet.Windows
	mu   sync.Mutex
	keys []string
}

func (r *recording) Reserve(ctx context.Context, ask fleet.Request) (fleet.Reservation, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.keys = append(r.keys, ask.Key)
	return r.Windows.Reserve(ctx, ask)
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
