package dapi

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/ratewindow"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// paymentLine is the queue in which the payments of a credential wait before they are booked, in the order of the
// calls. A booked payment has an approval that expires, and its confirm needs room in the same rate window as the
// booking. If all payments were booked at once, their approvals would expire while the confirms wait. So at most
// [maxInFlight] payments are between booking and confirm.
//
// The limit applies whoever limits the rate. Another limiter than the client's own gives a process at most the stated
// window, or the share of it that moneymovement.WithRateShare states. Without a limiter, the service still counts the
// calls; or it does not count, and then a hundred payments at once keep it busy.
type paymentLine struct {
	operation string // the first call of a payment
	window    moneymovement.Allowance
	paced     bool // this client limits the rate, so the time in the queue can be calculated
	most      int  // how many payments may be between booking and confirm
	places    *semaphore.Weighted
	waiting   atomic.Int64
	logger    *slog.Logger
}

// The lifetimes of approvals.
const (
	payoutApproval = 120 * time.Second
	escrowApproval = 60 * time.Second
)

// roomToConfirm is the time at the end of an approval's window for signing and sending the confirm.
const roomToConfirm = 5 * time.Second

func newPaymentLine(
	operation string, window moneymovement.Allowance, approval time.Duration, paced bool, logger *slog.Logger,
) *paymentLine {
	most := maxInFlight(window, approval)
	return &paymentLine{
		operation: operation, window: window, paced: paced, logger: logger,
		most: most, places: semaphore.NewWeighted(int64(most)),
	}
}

// maxInFlight returns how many payments may be between booking and confirm, if n calls pass in a window and an approval
// lives for a time:
//
//	n × ⌊(lifetime − 5 s) / window⌋ × 9/10   if that is not zero,
//	n / 20                                   otherwise, and at least one.
//
// In the worst case, bookings take the last slots of a window, and all their confirms wait for the next one. During an
// approval's lifetime, less 5 seconds to sign and send, that many whole windows pass, each with room for n calls.
// Confirms go first there, except for the tenth that is left for other writes. A window counts as long as it is held,
// which is 61 seconds for a minute.
//
// If an approval does not live longer than a window, a confirm that misses the window of its booking is too late, and
// the payment is prepared again. This happens to the payments that are between booking and confirm when the window is
// full: at most a twentieth of it.
//
// With 120 calls a minute, the limits are 108 payouts (120 s) and 6 deals (60 s).
func maxInFlight(window moneymovement.Allowance, approval time.Duration) int {
	windows := int((approval - roomToConfirm) / window.Span())
	if windows <= 0 {
		return max(window.Calls/20, 1)
	}
	return max(window.Calls*windows*9/10, 1)
}

// enter waits until fewer than the allowed number of payments are under way. Call leave when the payment was confirmed,
// or when it will not be. leave can be called more than once. If the wait would go beyond the deadline, enter fails at
// once.
func (l *paymentLine) enter(ctx context.Context, key string) (leave func(), err error) {
	if l.places.TryAcquire(1) {
		return l.leave(), nil
	}
	before := l.waiting.Add(1) - 1
	defer l.waiting.Add(-1)
	at := time.Now().Add(l.least(before))
	if l.paced && late(ctx, at) {
		return nil, l.refused(key, at, &moneymovement.WindowFull{Window: moneymovement.WindowWrites, Until: at})
	}
	began := time.Now()
	waiting, over := ratewindow.BeginWait(ctx, moneymovement.WindowWrites)
	ratewindow.ReportAdmission(waiting, func() time.Time { return at })
	err = l.places.Acquire(waiting, 1)
	over()
	if queued := time.Since(began); queued >= time.Second {
		l.logger.LogAttrs(ctx, slog.LevelInfo, "moneymovement payment waited in the queue",
			slog.String("operation", l.operation), slog.String("idempotencyKey", key),
			transport.Milliseconds("queued", queued))
	}
	if err != nil {
		return nil, l.refused(key, time.Time{}, err)
	}
	return l.leave(), nil
}

func (l *paymentLine) leave() func() { return sync.OnceFunc(func() { l.places.Release(1) }) }

func (l *paymentLine) refused(key string, retryAt time.Time, err error) error {
	return &errors.NotDelivered{
		CallInfo: errors.CallInfo{Operation: l.operation, IdempotencyKey: key, RetryAt: retryAt},
		Err:      err}
}

// least returns the shortest time until a payment with so many before it can confirm. Each of them needs two calls, and
// so does this one.
func (l *paymentLine) least(before int64) time.Duration {
	calls := 2 * (before + 1)
	return time.Duration((calls-1)/int64(l.window.Calls)) * l.window.Span()
}

func late(ctx context.Context, at time.Time) bool {
	deadline, limited := ctx.Deadline()
	return limited && !at.Before(deadline)
}
