package dapi

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/ratewindow"
)

func TestMaxInFlight(t *testing.T) {
	for _, tc := range []struct {
		calls    int
		approval time.Duration
		want     int
	}{
		{1, payoutApproval, 1}, {10, payoutApproval, 9}, {120, payoutApproval, 108},
		{1, escrowApproval, 1}, {10, escrowApproval, 1}, {120, escrowApproval, 6},
		// 61 seconds of a window, and five to sign and to travel
		{120, 5 * time.Minute, 432}, {120, 66 * time.Second, 108}, {120, 66*time.Second - 1, 6},
	} {
		window := moneymovement.Allowance{Calls: tc.calls, Per: time.Minute}
		assert.Equal(t, tc.want, maxInFlight(window, tc.approval), "%d calls, %v", tc.calls, tc.approval)
	}
}

// Whatever other writes are sent, each payout is confirmed before its approval expires, and the window is used in full.
// An escrow's approval does not live longer than a window, so some are prepared again: never more in a window than the
// limit.
func TestConfirmsAreSentBeforeTheirApprovalsExpire(t *testing.T) {
	for _, calls := range []int{1, 10, 120} {
		for _, approval := range []time.Duration{payoutApproval, escrowApproval} {
			if calls == 1 && approval == escrowApproval {
				continue // with one call a minute, no escrow can be confirmed in the minute of its approval
			}
			t.Run(fmt.Sprint(calls, " calls, ", approval), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					allowance := moneymovement.Allowance{Calls: calls, Per: time.Minute}
					limiter := ratewindow.New(map[moneymovement.Window]moneymovement.Allowance{
						moneymovement.WindowWrites: allowance}, nil)
					queue := newPaymentQueue("Pay", allowance, approval, true, slog.New(slog.DiscardHandler))
					write := moneymovement.RateCall{Window: moneymovement.WindowWrites, Class: moneymovement.ClassWrite}
					const windows = 20
					var mu sync.Mutex
					sent, again := 0, 0
					count := func(n *int) {
						mu.Lock()
						defer mu.Unlock()
						*n++
					}
					began := time.Now()
					var all sync.WaitGroup
					for range windows * calls / 2 {
						all.Go(func() {
							release, err := queue.acquire(t.Context(), "")
							if !assert.NoError(t, err) {
								return
							}
							defer release()
							for {
								assert.NoError(t, limiter.Wait(t.Context(), write))
								count(&sent)
								confirm := write
								confirm.Class, confirm.Closes = moneymovement.ClassConfirm, time.Now().Add(approval)
								time.Sleep(100 * time.Millisecond) // until the booking has its response
								if limiter.Wait(t.Context(), confirm) == nil {
									break
								}
								count(&again)
							}
							count(&sent)
							time.Sleep(100 * time.Millisecond)
						})
						all.Go(func() {
							assert.NoError(t, limiter.Wait(t.Context(), write))
							count(&sent)
						})
					}
					all.Wait()
					took := int(time.Since(began)/allowance.Span()) + 1 // in windows
					assert.Equal(t, windows*calls/2*3+again, sent)
					assert.LessOrEqual(t, took, (sent+calls-1)/calls, "windows that %d calls took", sent)
					if approval == payoutApproval {
						assert.Zero(t, again)
					}
					assert.LessOrEqual(t, again, took*maxInFlight(allowance, approval))
				})
			})
		}
	}
}

// Each queued payment takes at least two calls, so the length of the queue gives the shortest wait.
func TestShortestWaitInTheQueue(t *testing.T) {
	for calls, waits := range map[int]map[int64]int{120: {0: 0, 59: 0, 60: 1, 119: 1, 120: 2},
		3: {0: 0, 1: 1, 2: 1, 3: 2}, 1: {0: 1, 1: 3}} {
		window := moneymovement.Allowance{Calls: calls, Per: time.Minute}
		l := newPaymentQueue("BookPayout", window, payoutApproval, true, slog.New(slog.DiscardHandler))
		for before, windows := range waits {
			assert.Equal(t, time.Duration(windows)*window.Span(), l.shortestWait(before), "%d before, %d calls", before,
				calls)
		}
	}
}

// A payment that would wait beyond its deadline is refused at once.
func TestQueueRefusesPaymentsThatWouldBeLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		queue := newPaymentQueue("Pay", moneymovement.Allowance{Calls: 2, Per: time.Minute}, payoutApproval, true,
			slog.New(slog.DiscardHandler))
		release, err := queue.acquire(t.Context(), "under way")
		require.NoError(t, err)
		defer release()
		enter := func() (queued time.Duration) {
			began := time.Now()
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second) // of a window of 61
			defer cancel()
			_, err := queue.acquire(ctx, "queued")
			assert.ErrorIs(t, err, context.DeadlineExceeded)
			return time.Since(began)
		}
		for range 2 { // who left the line does not count
			var first sync.WaitGroup
			first.Go(func() { assert.Equal(t, 30*time.Second, enter(), "the first in line can be in time") })
			synctest.Wait()
			assert.Zero(t, enter(), "the second cannot")
			first.Wait()
		}
	})
	synctest.Test(t, func(t *testing.T) {
		queue := newPaymentQueue("Pay", moneymovement.Allowance{Calls: 1, Per: time.Minute}, payoutApproval, true,
			slog.New(slog.DiscardHandler))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		release, err := queue.acquire(ctx, "alone")
		require.NoError(t, err, "nobody is late where nobody is in line")
		release()
	})
}

func TestQueueSlotIsReleasedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		queue := newPaymentQueue("Pay", moneymovement.Allowance{Calls: 1, Per: time.Minute}, payoutApproval, false,
			slog.New(slog.NewTextHandler(&log, nil)))
		release, err := queue.acquire(t.Context(), "")
		require.NoError(t, err)
		release()
		release() // does not give up another's
		release, err = queue.acquire(t.Context(), "")
		require.NoError(t, err)
		defer release()
		assert.Empty(t, log.String())

		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		_, err = queue.acquire(ctx, "invoice-42")
		require.ErrorIs(t, err, context.DeadlineExceeded)
		refused, ok := errors.AsType[*errors.NotDelivered](err)
		require.True(t, ok, "%v", err)
		assert.Equal(t, "invoice-42", refused.IdempotencyKey)
		assert.Equal(t, "Pay", refused.Operation)
		assert.Contains(t, log.String(),
			`msg="moneymovement payment waited in the queue" operation=Pay idempotencyKey=invoice-42 queuedMs=3600000`)

		log.Reset()
		for _, patience := range []time.Duration{time.Second, time.Second - 1} {
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			_, err = queue.acquire(ctx, "")
			require.Error(t, err)
		}
		assert.Equal(t, 1, strings.Count(log.String(), "queuedMs="), "less than a second is no news")
	})
}
