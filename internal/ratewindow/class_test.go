package ratewindow_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/ratewindow"
)

// queue is one window. It notes its calls in the order in which they are admitted.
type queue struct {
	*testing.T
	limiter *ratewindow.Limiter
	began   time.Time
	calls   sync.WaitGroup

	mu    sync.Mutex
	order []string
	at    []time.Duration
	late  []string // refused: their turn comes after their approval expires
}

func newQueue(t *testing.T, calls int) *queue {
	limiter := alone(windows{"w": {Calls: calls,
		Per: time.Minute}})
	return &queue{T: t, limiter: limiter, began: time.Now()}
}

// fill takes all slots, so that the next calls must wait.
func (q *queue) fill(calls int) {
	for range calls {
		require.NoError(q, pass(q.Context(), q.limiter, "w", ""))
	}
}

// come adds a call, and returns when the call waits or was admitted.
func (q *queue) come(name string, class moneymovement.RateClass, closesIn time.Duration) {
	call := moneymovement.RateCall{Window: "w", Class: class}
	if closesIn > 0 {
		call.Closes = time.Now().Add(closesIn)
	}
	q.calls.Go(func() {
		err := q.limiter.Wait(q.Context(), call)
		q.mu.Lock()
		defer q.mu.Unlock()
		if err != nil {
			q.late = append(q.late, name)
			return
		}
		q.order, q.at = append(q.order, name), append(q.at, time.Since(q.began))
	})
	synctest.Wait()
}

func (q *queue) comeMany(count int, name string, class moneymovement.RateClass, closesIn time.Duration) {
	for range count {
		q.come(name, class, closesIn)
	}
}

// went returns the calls that were admitted so far.
func (q *queue) went() []string {
	q.mu.Lock()
	defer q.mu.Unlock()
	return slices.Clone(q.order)
}

// count returns how many calls with a name are among the first n admitted calls.
func (q *queue) count(name string, first int) (count int) {
	for _, went := range q.went()[:first] {
		if went == name {
			count++
		}
	}
	return count
}

func TestClassesGoInTheirOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(t, 9)
		for range 9 {
			q.fill(1)
			time.Sleep(time.Second)
		}
		q.come("poll", moneymovement.ClassPoll, 0)
		q.come("read", moneymovement.ClassRead, 0)
		q.come("write", moneymovement.ClassWrite, 0)
		q.come("unknown", "of a later version", 0)
		q.come("endless", moneymovement.ClassConfirm, 0)
		q.come("later", moneymovement.ClassConfirm, 110*time.Second)
		q.come("endless too", moneymovement.ClassConfirm, 0)
		q.come("sooner", moneymovement.ClassConfirm, 90*time.Second)
		q.come("refresh", moneymovement.ClassRefresh, 0)
		q.calls.Wait()
		assert.Equal(t, []string{"refresh", "sooner", "later", "endless", "endless too", "read", "write", "unknown",
			"poll"}, q.order)
		assert.Equal(t, minute+8*time.Second, q.at[8])
	})
}

// Of ten admitted calls, one is of a waiting class, however many calls of a class before it wait.
func TestEachClassThatWaitsKeepsATenth(t *testing.T) {
	for name, classes := range map[string][2]moneymovement.RateClass{
		"writes behind confirms": {moneymovement.ClassConfirm, moneymovement.ClassWrite},
		"polls behind reads":     {moneymovement.ClassRead, moneymovement.ClassPoll},
		"polls behind confirms":  {moneymovement.ClassConfirm, moneymovement.ClassPoll},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q := newQueue(t, 20)
				q.fill(20)
				q.comeMany(100, "before", classes[0], 0)
				q.comeMany(100, "behind", classes[1], 0)
				q.calls.Wait()
				for _, first := range []int{20, 40, 60, 80, 100} {
					assert.Equal(t, first/10, q.count("behind", first))
				}
			})
		})
	}
}

// The tenth of a class never makes a confirm too late for its approval.
func TestATenthGivesWayToAConfirmThatCloses(t *testing.T) {
	for _, calls := range []int{1, 10, 120} {
		t.Run(fmt.Sprint(calls), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q := newQueue(t, calls)
				for round := range 20 { // each confirm needs the next window's slot
					q.fill(calls)
					q.come(fmt.Sprint("write ", round), moneymovement.ClassWrite, 0)
					q.comeMany(calls, "confirm", moneymovement.ClassConfirm, 120*time.Second)
					before := len(q.went())
					time.Sleep(minute)
					synctest.Wait()
					assert.Equal(t, calls, q.count("confirm", len(q.went()))-q.count("confirm", before), "round %d",
						round)
					time.Sleep(20 * 7 * minute) // the writes that had to give way
					synctest.Wait()
				}
				q.calls.Wait()
				assert.Empty(t, q.late)
			})
		})
	}
}

// A confirm that cannot be sent before its approval expires does not stay in line, and takes no slot of another call.
func TestAConfirmThatWouldBeTooLateIsToldAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(t, 1)
		q.fill(1)
		err := q.limiter.Wait(t.Context(), moneymovement.RateCall{Window: "w", Class: moneymovement.ClassConfirm,
			Closes: time.Now().Add(60 * time.Second)})
		var tooLong *moneymovement.WindowFull
		require.ErrorAs(t, err, &tooLong)
		assert.True(t, tooLong.Closed)
		assert.Equal(t, q.began.Add(minute), tooLong.Until)
		require.NotErrorIs(t, err, context.DeadlineExceeded, "the caller has time")
		assert.Zero(t, time.Since(q.began))

		q.come("overtaken", moneymovement.ClassConfirm, 70*time.Second)
		q.come("refresh", moneymovement.ClassRefresh, 0)
		q.calls.Wait()
		assert.Equal(t, []string{"refresh"}, q.order)
		assert.Equal(t, []string{"overtaken"}, q.late)
		assert.Equal(t, 70*time.Second, time.Since(q.began), "it is told when its approval expires")
	})
}

// A thousand waits do not take the whole window: a read finds room at once.
func TestPollsLeaveRoomForReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(t, 600)
		for range 1000 {
			q.calls.Go(func() {
				assert.NoError(t,
					q.limiter.Wait(t.Context(), moneymovement.RateCall{Window: "w", Class: moneymovement.ClassPoll}))
			})
		}
		synctest.Wait()
		for i := range 54 { // of sixty slots, polls have their tenth here as well
			q.come("read", moneymovement.ClassRead, 0)
			assert.Len(t, q.went(), i+1, "at once")
		}
		q.come("read", moneymovement.ClassRead, 0)
		assert.Len(t, q.went(), 54, "the window is full")
		q.calls.Wait()
		assert.Equal(t, minute, q.at[54])
		assert.Equal(t, minute, time.Since(q.began), "the other polls")
	})
}

// A host that does not count must not block a program for an hour on the 61st credit.
func TestOnlyTheFirstInLineIsLetThroughAfterTheLongestTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limiter := alone(moneymovement.StatedWindows())
		began := time.Now()
		for range 60 {
			require.NoError(t, pass(t.Context(), limiter, moneymovement.WindowSandboxMoney, "cl_1"))
		}
		assert.Zero(t, time.Since(began))

		var mu sync.Mutex
		var at []time.Duration
		var credits sync.WaitGroup
		for range 3 {
			credits.Go(func() {
				assert.NoError(t, pass(t.Context(), limiter, moneymovement.WindowSandboxMoney, "cl_1"))
				mu.Lock()
				defer mu.Unlock()
				at = append(at, time.Since(began))
			})
			synctest.Wait()
		}
		ctx, cancel := context.WithTimeout(t.Context(), 4*ratewindow.LongestTurn)
		defer cancel()
		var tooLong *moneymovement.WindowFull
		require.ErrorAs(t, pass(ctx, limiter, moneymovement.WindowSandboxMoney, "cl_1"), &tooLong)
		assert.Equal(t, began.Add(4*ratewindow.LongestTurn), tooLong.Until, "the fourth in line")
		assert.Zero(t, time.Since(began), "told at once")
		credits.Wait()
		assert.Equal(t, []time.Duration{ratewindow.LongestTurn, 2 * ratewindow.LongestTurn, 3 * ratewindow.LongestTurn},
			at)
	})
}

// Further back in line, the window of a minute is respected however long that takes.
func TestAMinutesWindowIsKeptForAnHour(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(t, 2)
		q.comeMany(120, "write", moneymovement.ClassWrite, 0)
		q.calls.Wait()
		for i, at := range q.at {
			assert.Equal(t, time.Duration(i/2)*minute, at)
		}
	})
}

// The check whether a call's turn comes in time takes a class's tenth into account.
func TestADeadlineInALongLineOfAnotherClass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(t, 10)
		q.fill(10)
		q.comeMany(100, "read", moneymovement.ClassRead, 0)
		for _, tc := range []struct {
			deadline time.Duration
			inTime   bool
		}{{minute + 1, true}, {minute + 1, false}, {2*minute + 1, true}} { // one of ten is a poll
			ctx, cancel := context.WithTimeout(t.Context(), tc.deadline)
			defer cancel()
			poll := moneymovement.RateCall{Window: "w", Class: moneymovement.ClassPoll}
			if !tc.inTime {
				var tooLong *moneymovement.WindowFull
				require.ErrorAs(t, q.limiter.Wait(ctx, poll), &tooLong)
				assert.Equal(t, q.began.Add(2*minute), tooLong.Until)
				continue
			}
			q.calls.Go(func() { assert.NoError(t, q.limiter.Wait(ctx, poll)) })
			synctest.Wait()
		}
		q.calls.Wait()
	})
}

// abandoned is a context that has ended, and whose Done channel never closes.
type abandoned struct {
	context.Context
	ended atomic.Bool
}

func (a *abandoned) Err() error {
	if a.ended.Load() {
		return context.Canceled
	}
	return nil
}

// A caller that has left when its turn comes leaves its slot to the next.
func TestASlotThatIsNotUsedIsGivenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, calls := range []int{1, 2, 5} {
			q := newQueue(t, calls)
			want := make([]time.Duration, calls)
			for i := range want {
				q.fill(1)
				want[i] = minute + time.Since(q.began)
				time.Sleep(time.Second)
			}
			gone := &abandoned{Context: t.Context()}
			q.calls.Go(func() { assert.ErrorIs(t, pass(gone, q.limiter, "w", ""), context.Canceled) })
			synctest.Wait()
			q.comeMany(calls, "next", moneymovement.ClassWrite, 0)
			gone.ended.Store(true)
			q.calls.Wait()
			assert.Equal(t, want, q.at)
		}
	})
}
