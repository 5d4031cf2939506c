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

// paymentQueue is the queue in which the payments of a credential wait before they are booked, in the order of the
// calls. A booked payment has an approval that expires, and its confirm needs room in the same rate window as the
// booking. If all payments were booked at once, their approvals would expire while the confirms wait. So at most
// [maxInFlight] payments are between booking and confirm.
//
// The limit also applies if the client has another limiter than its own, or none.
type paymentQueue struct {
	operation string // the first call of a payment
	window    moneymovement.Allowance
	paced     bool // this client limits the rate, so the time in the queue can be calculated
	limit     int  // how many payments may be between booking and confirm
	slots     *semaphore.Weighted
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

func newPaymentQueue(
	operation string, window moneymovement.Allowance, approval time.Duration, paced bool, logger *slog.Logger,
) *paymentQueue {
	limit := maxInFlight(window, approval)
	return &paymentQueue{
		operation: operation, window: window, paced: paced, logger: logger,
		limit: limit, slots: semaphore.NewWeighted(int64(limit)),
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
// With 120 calls a minute, the limits are 108 payouts (120 s) and 6 escrows (60 s).
func maxInFlight(window moneymovement.Allowance, approval time.Duration) int {
	windows := int((approval - roomToConfirm) / window.Span())
	if windows <= 0 {
		return max(window.Calls/20, 1)
	}
	return max(window.Calls*windows*9/10, 1)
}

// acquire waits until fewer than the allowed number of payments are under way. Call release when the payment was
// confirmed, or when it will not be. release can be called more than once. If the wait would go beyond the deadline,
// acquire fails at once.
func (q *paymentQueue) acquire(ctx context.Context, key string) (release func(), err error) {
	if q.slots.TryAcquire(1) {
		return q.release(), nil
	}
	before := q.waiting.Add(1) - 1
	defer q.waiting.Add(-1)
	at := time.Now().Add(q.shortestWait(before))
	if q.paced && late(ctx, at) {
		return nil, q.refused(key, at, &moneymovement.WindowFull{Window: moneymovement.WindowWrites, Until: at})
	}
	began := time.Now()
	waiting, over := ratewindow.BeginWait(ctx, moneymovement.WindowWrites)
	ratewindow.ReportAdmission(waiting, func() time.Time { return at })
	err = q.slots.Acquire(waiting, 1)
	over()
	if queued := time.Since(began); queued >= time.Second {
		q.logger.LogAttrs(ctx, slog.LevelInfo, "moneymovement payment waited in the queue",
			slog.String("operation", q.operation), slog.String("idempotencyKey", key),
			transport.Milliseconds("queued", queued))
	}
	if err != nil {
		return nil, q.refused(key, time.Time{}, err)
	}
	return q.release(), nil
}

func (q *paymentQueue) release() func() { return sync.OnceFunc(func() { q.slots.Release(1) }) }

func (q *paymentQueue) refused(key string, retryAt time.Time, err error) error {
	return &errors.NotDelivered{
		CallInfo: errors.CallInfo{Operation: q.operation, IdempotencyKey: key, RetryAt: retryAt},
		Err:      err}
}

// shortestWait returns the shortest time until a payment with so many before it can confirm. Each of them needs two
// calls, and so does this one.
func (q *paymentQueue) shortestWait(before int64) time.Duration {
	calls := 2 * (before + 1)
	return time.Duration((calls-1)/int64(q.window.Calls)) * q.window.Span()
}

func late(ctx context.Context, at time.Time) bool {
	deadline, limited := ctx.Deadline()
	return limited && !at.Before(deadline)
}
