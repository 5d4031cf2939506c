package ratewindow_test

import (
	"context"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/ratewindow"
)

// A line is removed when its last call no longer counts, and not when an earlier one does not.
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

// A line whose only slot was returned is removed at once.
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

// The time that the first call has waited brings the turn of the calls behind it closer.
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

// behindNineConfirms returns a line in which a waiting write is due its tenth: nine confirms went before it.
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

// Slots that have been free for a while do not bring the turn of a long line closer.
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
func TestConfirmsThatAreTooLateHoldNobody(t *testing.T) {
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
func TestNobodyIsPassedOverBeforeItWaits(t *testing.T) {
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
func TestAConfirmThatHasClosedGoesWhereThereIsRoom(t *testing.T) {
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
func TestACallDoesNotInheritTheTurnOfOneThatGaveUp(t *testing.T) {
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

// In a long window, a call goes when there is room, if that is before its longest turn.
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

// Lines are looked through only when their number has doubled, so that many lines in use cost little.
func TestLinesAreLookedThroughRarely(t *testing.T) {
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
