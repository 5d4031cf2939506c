package ratewindow_test

import (
	"context"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/ratewindow"
)

// watched notes what a watch is told. All times are since its test began.
type watched struct {
	began    time.Time
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
	w.called, w.windows = append(w.called, time.Since(w.began)), append(w.windows, window)
	w.until = append(w.until, goesOn)
	return func() { w.finished = append(w.finished, time.Since(w.began)) }
}

// A wait of five seconds is watched, with the time at which it goes on. What the watch returned is called at its end.
func TestAWaitThatIsWatched(t *testing.T) {
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
				waiting, over := ratewindow.InLine(ratewindow.WatchQueue(t.Context(), noted.watch), "w")
				if tc.goesOn >= 0 {
					ratewindow.GoesOn(waiting, func() time.Time { return noted.began.Add(tc.goesOn) })
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

func TestAWaitThatIsTooShortToWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		noted := &watched{began: time.Now()}
		_, over := ratewindow.InLine(ratewindow.WatchQueue(t.Context(), noted.watch), "w")
		time.Sleep(5*time.Second - 1)
		over()
		time.Sleep(time.Minute)
		assert.Empty(t, noted.called)
		assert.Empty(t, noted.finished)
	})
}

// Without a watch, a wait is as it was.
func TestAWaitThatNobodyWatches(t *testing.T) {
	waiting, over := ratewindow.InLine(t.Context(), "w")
	assert.Equal(t, t.Context(), waiting)
	ratewindow.GoesOn(waiting, time.Now)
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
		_, over := ratewindow.InLine(ctx, "w")
		time.Sleep(10 * time.Second)
		over()
		assert.Equal(t, 10*time.Second, time.Since(began))
	})
}

// A limiter says when a call goes on, as the line looks then.
func TestALimiterSaysWhenACallGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limiter, noted := alone(windows{"w": {Calls: 1, Per: time.Minute}}), &watched{began: time.Now()}
		require.NoError(t, pass(t.Context(), limiter, "w", ""))
		wait := func(ctx context.Context) {
			waiting, over := ratewindow.InLine(ratewindow.WatchQueue(ctx, noted.watch), "w")
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
		assert.Equal(t, []time.Duration{6 * time.Second}, noted.called)
		assert.Equal(t, []time.Duration{minute}, noted.until)
		assert.Equal(t, []time.Duration{minute}, noted.finished)
	})
}
