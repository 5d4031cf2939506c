package ratewindow_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/ratewindow"
)

// A window takes its calls at once; the next one waits until the first one has left the window, and a moment for calls
// that travel for different times. Where the window is longer than the longest wait, the host may not count at all, and
// the next one goes after that.
// Rule: rate.reads, rate.writes, rate.sandbox-money
func TestWindowsAdmitTheStatedNumberOfCalls(t *testing.T) {
	for window, allowance := range moneymovement.StatedWindows() {
		t.Run(string(window), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				limiter := alone(moneymovement.StatedWindows())
				started := time.Now()
				for range allowance.Calls {
					require.NoError(t, pass(t.Context(), limiter, window, ""))
				}
				assert.Zero(t, time.Since(started))
				require.NoError(t, pass(t.Context(), limiter, window, ""))
				assert.Equal(t, min(allowance.Span(), ratewindow.LongestWait), time.Since(started))
			})
		})
	}
}

// Rule: rate.reads, rate.writes, rate.login-address, rate.login-email, rate.login-challenge, rate.sandbox-money
func TestStatedWindowsAreTheDescriptions(t *testing.T) {
	assert.Equal(t, windows{
		moneymovement.WindowReads:          {Calls: 600, Per: time.Minute},
		moneymovement.WindowWrites:         {Calls: 120, Per: time.Minute},
		moneymovement.WindowLogin:          {Calls: 20, Per: 5 * time.Minute},
		moneymovement.WindowLoginEmail:     {Calls: 10, Per: 5 * time.Minute},
		moneymovement.WindowLoginChallenge: {Calls: 10, Per: 5 * time.Minute},
		moneymovement.WindowSandboxMoney:   {Calls: 60, Per: time.Hour},
	}, moneymovement.StatedWindows())
}

// A call counts here for a little longer than at the service: a sixtieth, and at most a second.
func TestHowLongACallCounts(t *testing.T) {
	for per, held := range map[time.Duration]time.Duration{
		time.Minute: 61 * time.Second, time.Hour: time.Hour + time.Second, 30 * time.Second: 30500 * time.Millisecond,
	} {
		assert.Equal(t, held, moneymovement.Allowance{Calls: 1, Per: per}.Span())
	}
}

// However calls come and give up, never more of them go through in any stretch of a window's length, wherever the
// service's own window starts; and each goes through as soon as that lets it.
func TestNoPeriodHasMoreCallsThanTheWindowAllows(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		allowance := moneymovement.Allowance{Per: time.Second}
		per := allowance.Span()
		calls := rapid.IntRange(1, 5).Draw(rt, "calls")
		gaps := rapid.SliceOfN(rapid.IntRange(0, 350), 1, 40).Draw(rt, "gaps")
		// negative for endless
		patience := rapid.SliceOfN(rapid.IntRange(-500, 1500), len(gaps), len(gaps)).Draw(rt, "patience")
		gap := func(i int) time.Duration { return 2 * time.Duration(gaps[i]) * time.Millisecond }
		// odd, so that nothing ends in a tie
		leaves := func(i int) time.Duration { return time.Duration(2*patience[i]+1) * time.Millisecond }

		var want []time.Duration
		arrival := time.Duration(0)
		for i := range gaps {
			arrival += gap(i)
			at := arrival
			if len(want) >= calls {
				at = max(at, want[len(want)-calls]+per)
			}
			if patience[i] < 0 || arrival+leaves(i) > at {
				want = append(want, at)
			}
		}

		var got []time.Duration
		synctest.Test(t, func(t *testing.T) {
			limiter := alone(windows{"w": {Calls: calls,
				Per: allowance.Per}})
			started := time.Now()
			var mu sync.Mutex
			var wg sync.WaitGroup
			for i := range gaps {
				time.Sleep(gap(i))
				wg.Go(func() {
					ctx, cancel := context.WithCancel(t.Context())
					defer cancel()
					if patience[i] >= 0 {
						defer time.AfterFunc(leaves(i), cancel).Stop()
					}
					if pass(ctx, limiter, "w", "") == nil {
						mu.Lock()
						defer mu.Unlock()
						got = append(got, time.Since(started))
					}
				})
				synctest.Wait()
			}
			wg.Wait()
		})
		for i := calls; i < len(got); i++ {
			if got[i]-got[i-calls] < per {
				rt.Fatalf("%d calls within %v", calls+1, got[i]-got[i-calls])
			}
		}
		if !slices.Equal(want, got) {
			rt.Fatalf("went through at %v, could have at %v", got, want)
		}
	})
}

// minute is how long a call counts in a window of a minute.
const minute = 61 * time.Second

func TestCallersAreServedInTheOrderInWhichTheyCame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limiter := alone(windows{"w": {Calls: 3,
			Per: time.Minute}})
		started := time.Now()
		var mu sync.Mutex
		var order []int
		var at []time.Duration
		var wg sync.WaitGroup
		for i := range 10 {
			wg.Go(func() {
				assert.NoError(t, pass(t.Context(), limiter, "w", ""))
				mu.Lock()
				defer mu.Unlock()
				order, at = append(order, i), append(at, time.Since(started).Round(minute))
			})
			synctest.Wait()
			time.Sleep(time.Millisecond)
		}
		wg.Wait()
		assert.Equal(t, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, order)
		assert.Equal(t, []time.Duration{0, 0, 0, minute, minute, minute, 2 * minute, 2 * minute, 2 * minute,
			3 * minute}, at)
	})
}

// The queue before a caller counts: the third of the next window comes after the two in front of it.
func TestDeadlineInALongLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limiter := alone(windows{"w": {Calls: 2,
			Per: time.Minute}})
		started := time.Now()
		var wg sync.WaitGroup
		for range 7 { // two now, two each at the first and second minute, one at the third
			wg.Go(func() { assert.NoError(t, pass(t.Context(), limiter, "w", "")) })
			synctest.Wait()
		}
		for _, deadline := range []time.Duration{3*minute - 1, 3 * minute} {
			ctx, cancel := context.WithTimeout(t.Context(), deadline)
			var tooLong *moneymovement.WindowFull
			require.ErrorAs(t, pass(ctx, limiter, "w", ""), &tooLong)
			cancel()
			assert.Equal(t, started.Add(3*minute), tooLong.Until)
			assert.Equal(t, moneymovement.Window("w"), tooLong.Window)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 3*minute+1)
		defer cancel()
		require.NoError(t, pass(ctx, limiter, "w", ""))
		wg.Wait()
		assert.Equal(t, 3*minute, time.Since(started))
	})
}

// Callers who give up while they wait, in whatever order, leave no gap behind.
func TestCancelledWaitersLeaveNoGap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limiter := alone(windows{"w": {Calls: 1,
			Per: time.Minute}})
		require.NoError(t, pass(t.Context(), limiter, "w", ""))
		started := time.Now()
		impatient, giveUp := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		for i := range 100 {
			wg.Go(func() {
				ctx := impatient
				if i == 50 {
					ctx = t.Context()
				}
				err := pass(ctx, limiter, "w", "")
				if i == 50 {
					assert.NoError(t, err)
					assert.Equal(t, minute, time.Since(started))
				} else {
					assert.ErrorIs(t, err, context.Canceled)
				}
			})
			synctest.Wait()
		}
		giveUp()
		wg.Wait()
	})
}

// Rule: rate.per-credential
func TestScopesAndWindowsAreCountedApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		allowance := moneymovement.Allowance{Calls: 1, Per: time.Minute}
		limiter := alone(windows{"a": allowance, "b": allowance})
		started := time.Now()
		for _, call := range [][2]string{{"a", ""}, {"a", "cl_1"}, {"a", "cl_2"}, {"b", ""}, {"b", "cl_1"}} {
			require.NoError(t, pass(t.Context(), limiter, moneymovement.Window(call[0]), call[1]))
		}
		assert.Zero(t, time.Since(started))
		require.NoError(t, pass(t.Context(), limiter, "a", "cl_1"))
		assert.Equal(t, minute, time.Since(started))
	})
}

// A process that logs in for years meets a challenge of its own each time, and an integrator any number of clients.
func TestIdleWindowsAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limiter := alone(windows{"w": {Calls: 1,
			Per: time.Minute}})
		started := time.Now()
		require.NoError(t, pass(t.Context(), limiter, "w", "kept"))
		var waiting sync.WaitGroup
		waiting.Go(func() { assert.NoError(t, pass(t.Context(), limiter, "w", "kept")) })
		synctest.Wait()
		for i := range 10_000 {
			time.Sleep(minute / 20)
			require.NoError(t, pass(t.Context(), limiter, "w", strconv.Itoa(i)))
		}
		waiting.Wait()
		assert.Less(t, ratewindow.Remembered(limiter), 1000)
		assert.Greater(t, ratewindow.Remembered(limiter), 20, "those that still count are kept")

		last := strconv.Itoa(9_999)
		before := time.Since(started)
		require.NoError(t, pass(t.Context(), limiter, "w", last))
		assert.Equal(t, minute, time.Since(started)-before)
	})
}

// Rule: rate.off
func TestWindowsThatAreNotLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		started := time.Now()
		for _, limiter := range []*ratewindow.Limiter{
			nil, new(ratewindow.Limiter), alone(nil),
			alone(windows{"other": {Calls: 1, Per: time.Hour}}),
			alone(windows{"w": {Calls: 0, Per: time.Hour}}),
			alone(windows{"w": {Calls: -1, Per: time.Hour}}),
			alone(windows{"w": {Calls: 1}}),
		} {
			for range 1000 {
				require.NoError(t, pass(t.Context(), limiter, "w", ""))
			}
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			require.ErrorIs(t, pass(ctx, limiter, "w", ""), context.Canceled)
		}
		assert.Zero(t, time.Since(started))
	})
}

// pass waits as a call without a class does.
func pass(ctx context.Context, limiter moneymovement.RateLimiter, window moneymovement.Window, scope string) error {
	return limiter.Wait(ctx, moneymovement.RateCall{Window: window, Scope: scope})
}

// windows are those of a limiter.
type windows = map[moneymovement.Window]moneymovement.Allowance

// alone returns the limiter of one process.
func alone(of windows) *ratewindow.Limiter { return ratewindow.New(of, nil) }

// Together, all shares are at most the stated windows, as long as each share can have one call. The window of a
// challenge belongs to one client.
func TestSharesOfTheStatedWindows(t *testing.T) {
	stated := moneymovement.StatedWindows()
	assert.Equal(t, stated, ratewindow.ShareOfStatedWindows(1))
	for n := 1; n <= 1000; n++ {
		shares := ratewindow.ShareOfStatedWindows(n)
		require.Len(t, shares, len(stated))
		for window, share := range shares {
			whole := stated[window]
			require.Equal(t, whole.Per, share.Per)
			switch {
			case window == moneymovement.WindowLoginChallenge:
				require.Equal(t, whole, share)
			case n > whole.Calls:
				require.Equal(t, 1, share.Calls)
			default:
				require.LessOrEqual(t, n*share.Calls, whole.Calls)
				require.Greater(t, n*(share.Calls+1), whole.Calls, "no call is given away")
			}
		}
	}
}

// Two limiters with a half of each window pass as many calls at once as the window takes. They count the login window
// of their address as well.
func TestTwoHalvesOfEachWindow(t *testing.T) {
	for window, allowance := range moneymovement.StatedWindows() {
		if window == moneymovement.WindowLoginChallenge {
			continue
		}
		t.Run(fmt.Sprint(window), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				for range 2 {
					limiter := alone(ratewindow.ShareOfStatedWindows(2))
					for range allowance.Calls / 2 {
						require.NoError(t, pass(t.Context(), limiter, window, ""))
					}
					require.Zero(t, time.Since(began))
					soon, cancel := context.WithTimeout(t.Context(), 50*time.Second)
					defer cancel()
					require.ErrorIs(t, pass(soon, limiter, window, ""), context.DeadlineExceeded)
				}
			})
		})
	}
}

// watched notes what a watch is told. All times are since its test began.
type watched struct {
	began time.Time

	mu       sync.Mutex
	called   []time.Duration
	windows  []moneymovement.Window
	until    []time.Duration // negative if nobody knows
	finished []time.Duration
}

func (w *watched) watch(window moneymovement.Window, until time.Time) (over func()) {
	goesOn := time.Duration(-1)
	if !until.IsZero() {
		goesOn = until.Sub(w.began)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.called, w.windows = append(w.called, time.Since(w.began)), append(w.windows, window)
	w.until = append(w.until, goesOn)
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.finished = append(w.finished, time.Since(w.began))
	}
}

// A wait of five seconds is watched, with the time at which it goes on. What the watch returned is called at its end.
func TestQueueWatchReportsALongWait(t *testing.T) {
	for name, tc := range map[string]struct {
		goesOn, until time.Duration // negative for unknown
	}{
		"known":   {9 * time.Second, 9 * time.Second},
		"soon":    {5*time.Second + 1, 5*time.Second + 1},
		"past":    {5 * time.Second, -1}, // it would have gone on, so nobody knows
		"unknown": {-1, -1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				noted := &watched{began: time.Now()}
				waiting, over := ratewindow.BeginWait(ratewindow.WatchQueue(t.Context(), noted.watch), "w")
				if tc.goesOn >= 0 {
					ratewindow.ReportAdmission(waiting, func() time.Time { return noted.began.Add(tc.goesOn) })
				}
				time.Sleep(7 * time.Second)
				over()
				assert.Equal(t, []time.Duration{5 * time.Second}, noted.called)
				assert.Equal(t, []moneymovement.Window{"w"}, noted.windows)
				assert.Equal(t, []time.Duration{tc.until}, noted.until)
				assert.Equal(t, []time.Duration{7 * time.Second}, noted.finished)
			})
		})
	}
}

func TestQueueWatchIgnoresAShortWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		noted := &watched{began: time.Now()}
		_, over := ratewindow.BeginWait(ratewindow.WatchQueue(t.Context(), noted.watch), "w")
		time.Sleep(5*time.Second - 1)
		over()
		time.Sleep(time.Minute)
		assert.Empty(t, noted.called)
		assert.Empty(t, noted.finished)
	})
}

// Without a watch in the context, BeginWait changes nothing.
func TestWaitWithoutAQueueWatch(t *testing.T) {
	waiting, over := ratewindow.BeginWait(t.Context(), "w")
	assert.Equal(t, t.Context(), waiting)
	ratewindow.ReportAdmission(waiting, time.Now)
	over()
}

// The end of a wait is not held up by a watch that ends its goroutine, as a test that fails does.
func TestAWatchThatEndsItsGoroutine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		ctx := ratewindow.WatchQueue(t.Context(), func(moneymovement.Window, time.Time) func() {
			runtime.Goexit()
			return nil
		})
		_, over := ratewindow.BeginWait(ctx, "w")
		time.Sleep(10 * time.Second)
		over()
		assert.Equal(t, 10*time.Second, time.Since(began))
	})
}

// A limiter says when a call goes on, as the queue is then.
func TestLimiterReportsWhenACallIsAdmitted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limiter, noted := alone(windows{"w": {Calls: 1, Per: time.Minute}}), &watched{began: time.Now()}
		require.NoError(t, pass(t.Context(), limiter, "w", ""))
		wait := func(ctx context.Context) {
			waiting, over := ratewindow.BeginWait(ratewindow.WatchQueue(ctx, noted.watch), "w")
			defer over()
			_ = pass(waiting, limiter, "w", "")
		}
		first, leave := context.WithCancel(t.Context())
		go wait(first)
		synctest.Wait()
		time.Sleep(time.Second)
		go wait(t.Context())
		time.Sleep(3 * time.Second)
		leave() // so the second one is the first, before anybody asks
		time.Sleep(2 * minute)
		synctest.Wait()
		assert.Equal(t, []time.Duration{6 * time.Second}, noted.called)
		assert.Equal(t, []time.Duration{minute}, noted.until)
		assert.Equal(t, []time.Duration{minute}, noted.finished)
	})
}
