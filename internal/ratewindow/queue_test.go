package ratewindow_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
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
	late  []string // refused: their slot comes after their approval expires
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
func TestTenthOfAClassNeverMakesAConfirmTooLate(t *testing.T) {
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

// A confirm that cannot be sent before its approval expires does not stay in the queue, and takes no slot of another
// call.
func TestConfirmThatWouldBeTooLateIsRefusedAtOnce(t *testing.T) {
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
func TestOnlyTheFirstCallIsAdmittedAfterTheLongestWait(t *testing.T) {
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
		ctx, cancel := context.WithTimeout(t.Context(), 4*ratewindow.LongestWait)
		defer cancel()
		var tooLong *moneymovement.WindowFull
		require.ErrorAs(t, pass(ctx, limiter, moneymovement.WindowSandboxMoney, "cl_1"), &tooLong)
		assert.Equal(t, began.Add(4*ratewindow.LongestWait), tooLong.Until, "the fourth in line")
		assert.Zero(t, time.Since(began), "told at once")
		credits.Wait()
		assert.Equal(t, []time.Duration{ratewindow.LongestWait, 2 * ratewindow.LongestWait, 3 * ratewindow.LongestWait},
			at)
	})
}

// Further back in the queue, the window of a minute is respected however long that takes.
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

// The check whether a call's slot comes in time takes a class's tenth into account.
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

// A caller that has left when its slot comes leaves its slot to the next.
func TestUnusedSlotGoesToTheNextCall(t *testing.T) {
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

// narrow is a window that takes one call in ten seconds and a sixth.
func narrow() *ratewindow.Limiter {
	return alone(windows{moneymovement.WindowWrites: {Calls: 1,
		Per: 10 * time.Second}})
}

const turn = 10*time.Second + 10*time.Second/60

func write(class moneymovement.RateClass, closes time.Time) moneymovement.RateCall {
	return moneymovement.RateCall{Window: moneymovement.WindowWrites, Class: class, Closes: closes}
}

// A confirm whose approval closes while it waits is told so, and takes no slot from those behind it.
func TestConfirmThatExpiresInTheQueueTakesNoSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limiter, began := narrow(), time.Now()
		require.NoError(t, limiter.Wait(t.Context(), write(moneymovement.ClassWrite, time.Time{})))
		var line sync.WaitGroup
		line.Go(func() {
			err := limiter.Wait(t.Context(), write(moneymovement.ClassConfirm, began.Add(15*time.Second)))
			var tooLong *moneymovement.WindowFull
			assert.ErrorAs(t, err, &tooLong)
			assert.True(t, tooLong.Closed)
			assert.ErrorContains(t, err, "rate window writes has no room before the approval's window closes")
			assert.NotErrorIs(t, err, context.DeadlineExceeded)
		})
		synctest.Wait()
		line.Go(func() { // goes first, and so takes the confirm's slot
			assert.NoError(t, limiter.Wait(t.Context(), write(moneymovement.ClassRefresh, time.Time{})))
			assert.Equal(t, turn, time.Since(began))
		})
		synctest.Wait()
		line.Go(func() {
			assert.NoError(t, limiter.Wait(t.Context(), write(moneymovement.ClassWrite, time.Time{})))
			assert.Equal(t, 2*turn, time.Since(began))
		})
		line.Wait()
	})
}

// Nothing goes before a refresh, for without it nothing else can be sent, however long a confirm waits.
func TestRefreshesGoFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limiter := narrow()
		require.NoError(t, limiter.Wait(t.Context(), write(moneymovement.ClassWrite, time.Time{})))
		var mu sync.Mutex
		var order []string
		var line sync.WaitGroup
		join := func(class moneymovement.RateClass) {
			line.Go(func() {
				assert.NoError(t, limiter.Wait(t.Context(), write(class, time.Time{})))
				mu.Lock()
				defer mu.Unlock()
				order = append(order, string(class))
			})
			synctest.Wait()
		}
		join(moneymovement.ClassConfirm)
		for range 12 {
			join(moneymovement.ClassRefresh)
		}
		line.Wait()
		assert.Equal(t, "confirm", order[12], "%v", order)
	})
}

// A wait that is too long for its caller says which window it is, and when there will be room.
func TestAWaitThatIsTooLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limiter, began := narrow(), time.Now()
		require.NoError(t, limiter.Wait(t.Context(), write(moneymovement.ClassWrite, time.Time{})))
		ctx, cancel := context.WithTimeout(t.Context(), turn)
		defer cancel()
		err := limiter.Wait(ctx, write(moneymovement.ClassWrite, time.Time{}))
		var tooLong *moneymovement.WindowFull
		require.ErrorAs(t, err, &tooLong)
		assert.Equal(t, moneymovement.WindowFull{Window: moneymovement.WindowWrites, Until: began.Add(turn)}, *tooLong)
		require.ErrorContains(t, err, "rate window writes has no room before the deadline")
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Zero(t, time.Since(began), "it is told at once")

		longer, stop := context.WithTimeout(t.Context(), turn+1)
		defer stop()
		require.NoError(t, limiter.Wait(longer, write(moneymovement.ClassWrite, time.Time{})))
		assert.Equal(t, turn, time.Since(began))
	})
}

// A queue is removed when its last call no longer counts, and not when an earlier one does not.
func TestAWindowIsKeptForItsLastCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limiter := alone(windows{"w": {Calls: 3,
			Per: time.Minute}})
		began := time.Now()
		take := func() time.Duration {
			require.NoError(t, pass(t.Context(), limiter, "w", "busy"))
			return time.Since(began)
		}
		take()
		take()
		time.Sleep(50 * time.Second)
		take()
		time.Sleep(12 * time.Second) // the first two count no more
		for i := range 300 {
			require.NoError(t, pass(t.Context(), limiter, "w", strconv.Itoa(i)))
		}
		assert.Equal(t, 62*time.Second, take())
		assert.Equal(t, 62*time.Second, take())
		assert.Equal(t, 50*time.Second+minute, take())
	})
}

// A queue whose only slot was returned is removed at once.
func TestAWindowWithoutCallsIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limiter := alone(windows{"w": {Calls: 1,
			Per: time.Minute}})
		require.NoError(t, pass(t.Context(), limiter, "w", "given back"))
		gone := &abandoned{Context: t.Context()}
		ended := make(chan error, 1)
		go func() { ended <- pass(gone, limiter, "w", "given back") }()
		synctest.Wait()
		gone.ended.Store(true)
		require.ErrorIs(t, <-ended, context.Canceled)
		for i := range 128 {
			require.NoError(t, pass(t.Context(), limiter, "w", strconv.Itoa(i)))
		}
		assert.Equal(t, 128, ratewindow.Remembered(limiter))
	})
}

// The time that the first call has waited brings the slots of the calls behind it closer.
func TestADeadlineBehindACallThatWaitsForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limiter := alone(windows{"w": {Calls: 1, Per: time.Hour}})
		began := time.Now()
		require.NoError(t, pass(t.Context(), limiter, "w", ""))
		first := make(chan error, 1)
		go func() { first <- pass(t.Context(), limiter, "w", "") }()
		synctest.Wait()
		time.Sleep(30 * time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Second)
		defer cancel()
		var tooLong *moneymovement.WindowFull
		require.ErrorAs(t, pass(ctx, limiter, "w", ""), &tooLong)
		assert.Equal(t, began.Add(130*time.Second), tooLong.Until)
		require.NoError(t, <-first)
		assert.Equal(t, 65*time.Second, time.Since(began))
	})
}

// A poll behind many reads is the tenth of ten calls to go, and not an earlier one.
func TestADeadlineWithinAClassesTenth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(t, 10)
		for range 10 {
			q.fill(1)
			time.Sleep(time.Second)
		}
		q.comeMany(15, "read", moneymovement.ClassRead, 0)
		ctx, cancel := context.WithDeadline(t.Context(), q.began.Add(9*time.Second+minute))
		defer cancel()
		var tooLong *moneymovement.WindowFull
		require.ErrorAs(t, q.limiter.Wait(ctx, moneymovement.RateCall{Window: "w", Class: moneymovement.ClassPoll}),
			&tooLong)
		assert.Equal(t, q.began.Add(9*time.Second+minute), tooLong.Until)
		q.calls.Wait()
	})
}

// behindNineConfirms returns a queue in which a waiting write is due its tenth: nine confirms went before it.
func behindNineConfirms(t *testing.T) *queue {
	t.Helper()
	q := newQueue(t, 1)
	q.fill(1)
	q.come("write", moneymovement.ClassWrite, 0)
	q.comeMany(9, "before", moneymovement.ClassConfirm, 0)
	time.Sleep(9*minute + time.Second)
	synctest.Wait()
	require.Len(t, q.went(), 9)
	return q
}

// A class that is due its tenth goes before a confirm that then still has five seconds to be signed and to arrive.
func TestAConfirmNeedsFiveSeconds(t *testing.T) {
	for closes, want := range map[time.Duration]string{11*minute + 5*time.Second: "write",
		11*minute + 5*time.Second - 1: "confirm"} {
		t.Run(closes.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q := behindNineConfirms(t)
				q.come("confirm", moneymovement.ClassConfirm, closes-time.Since(q.began))
				q.calls.Wait()
				assert.Equal(t, want, q.order[9])
				assert.Len(t, q.order, 11)
			})
		})
	}
}

// Slots that have been free for a while do not bring the slots of a long queue closer.
func TestADeadlineInALineOfPolls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(t, 20)
		q.fill(20)
		time.Sleep(100 * time.Second)
		q.comeMany(18+20, "poll", moneymovement.ClassPoll, 0) // which leave two slots free
		require.Len(t, q.went(), 18)
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Second)
		defer cancel()
		var tooLong *moneymovement.WindowFull
		require.ErrorAs(t, q.limiter.Wait(ctx, moneymovement.RateCall{Window: "w", Class: moneymovement.ClassPoll}),
			&tooLong)
		assert.Equal(t, q.began.Add(100*time.Second+minute), tooLong.Until)
		q.calls.Wait()
	})
}

// Confirms that are too late in any case do not delay another class's tenth.
func TestConfirmsThatAreTooLateDelayNoOtherClass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := behindNineConfirms(t)
		closing := func(after time.Duration) time.Duration { return 10*minute + after - time.Since(q.began) }
		q.come("later", moneymovement.ClassConfirm, closing(45*time.Second))
		q.come("sooner", moneymovement.ClassConfirm, closing(2*time.Second))
		q.calls.Wait()
		assert.Equal(t, "write", q.order[9])
		assert.ElementsMatch(t, []string{"sooner", "later"}, q.late)
	})
}

// A class is due its tenth for the calls that went while it waited, and not for earlier ones.
func TestTenthOfAClassCountsFromItsFirstWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(t, 1)
		q.fill(1)
		q.comeMany(10, "before", moneymovement.ClassConfirm, 0)
		time.Sleep(9*minute + time.Second)
		synctest.Wait()
		require.Len(t, q.went(), 9)
		q.come("write", moneymovement.ClassWrite, 0)
		q.come("confirm", moneymovement.ClassConfirm, 0)
		q.calls.Wait()
		assert.Equal(t, []string{"before", "confirm", "write"}, q.order[9:])
	})
}

// If there is room to ask, the service decides whether an approval has expired.
func TestExpiredConfirmIsSentIfThereIsRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		require.NoError(t, narrow().Wait(t.Context(), write(moneymovement.ClassConfirm, time.Now().Add(-time.Second))))
	})
}

// A confirm whose approval expires at the moment at which there is room again goes: the service decides.
func TestAConfirmThatClosesWhenThereIsRoom(t *testing.T) {
	for after, goes := range map[time.Duration]bool{0: true, -1: false} {
		synctest.Test(t, func(t *testing.T) {
			q := newQueue(t, 1)
			q.fill(1)
			q.come("confirm", moneymovement.ClassConfirm, 2*minute+after)
			q.come("refresh", moneymovement.ClassRefresh, 0)
			q.calls.Wait()
			assert.Equal(t, goes, len(q.order) == 2)
			assert.Equal(t, 2*minute+after, time.Since(q.began))
		})
	}
}

// A class that was passed over, and whose calls gave up, begins anew.
func TestCallDoesNotInheritTheWaitOfOneThatGaveUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(t, 1)
		q.fill(1)
		gives, leave := context.WithCancel(t.Context())
		q.calls.Go(func() { assert.ErrorIs(q, pass(gives, q.limiter, "w", ""), context.Canceled) })
		synctest.Wait()
		q.comeMany(9, "before", moneymovement.ClassConfirm, 0)
		time.Sleep(9*minute + time.Second)
		leave()
		synctest.Wait()
		q.come("write", moneymovement.ClassWrite, 0)
		q.come("confirm", moneymovement.ClassConfirm, 0)
		q.calls.Wait()
		assert.Equal(t, []string{"confirm", "write"}, q.order[9:])
	})
}

// In a long window, a call goes when there is room, if that is before its longest wait.
func TestADeadlineInALongWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limiter, began := alone(windows{"w": {Calls: 2, Per: time.Hour}}), time.Now()
		require.NoError(t, pass(t.Context(), limiter, "w", ""))
		time.Sleep(50 * time.Minute)
		require.NoError(t, pass(t.Context(), limiter, "w", ""))
		time.Sleep(10*time.Minute - 9*time.Second)
		for _, deadline := range []time.Duration{10 * time.Second, 10*time.Second + 1} {
			ctx, cancel := context.WithTimeout(t.Context(), deadline)
			defer cancel()
			err := pass(ctx, limiter, "w", "")
			if deadline > 10*time.Second {
				require.NoError(t, err)
				continue
			}
			var tooLong *moneymovement.WindowFull
			require.ErrorAs(t, err, &tooLong)
			assert.Equal(t, began.Add(time.Hour+time.Second), tooLong.Until)
		}
		assert.Equal(t, time.Hour+time.Second, time.Since(began))
	})
}

// The shortest window limits too.
func TestAWindowOfANanosecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limiter, began := alone(windows{"w": {Calls: 1, Per: 1}}), time.Now()
		for range 3 {
			require.NoError(t, pass(t.Context(), limiter, "w", ""))
		}
		assert.Equal(t, 2*time.Nanosecond, time.Since(began))
	})
}

// Queues are swept only when their number has doubled, so that many queues in use cost little.
func TestQueuesAreSweptRarely(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limiter, made := alone(windows{"w": {Calls: 1, Per: time.Minute}}), 0
		more := func(lines int) {
			for range lines {
				require.NoError(t, pass(t.Context(), limiter, "w", strconv.Itoa(made)))
				made++
			}
		}
		more(150)
		time.Sleep(minute)
		more(106)
		assert.Equal(t, 256, ratewindow.Remembered(limiter))
		more(1)
		assert.Equal(t, 107, ratewindow.Remembered(limiter))
		time.Sleep(minute)
		more(105) // twice the 106 that were left
		assert.Equal(t, 212, ratewindow.Remembered(limiter))
		more(1)
		assert.Equal(t, 106, ratewindow.Remembered(limiter))
	})
}
