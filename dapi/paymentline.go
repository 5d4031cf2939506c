package dapi

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// paymentLine is where payments of a credential wait before they are booked, in the order in which they came. A payment
// that is booked holds an approval that closes, and its confirm needs room in the same window as its booking: if
// everything were booked at once, the approvals would close while their confirms wait. So no more than [underWay]
// payments stand between booking and confirm.
//
// The bound holds whoever paces. Another limiter than the client's own gives a process at most the stated window.
// Without pacing, the service counts all the same, or does not count and then a hundred payments at once keep it busy.
type paymentLine struct {
	operation string // that begins a payment
	window    transport.Allowance
	paced     bool // by this client, so that the window tells how long the line takes
	places    *semaphore.Weighted
	waiting   atomic.Int64
	logger    *slog.Logger
}

// The lifetimes of approvals.
//
// Source: Limits, Lifetimes.
const (
	payoutApproval = 120 * time.Second
	escrowApproval = 60 * time.Second
)

// roomToConfirm is the end of an approval's window that is not reckoned with: the confirm has to be signed, and to
// travel.
const roomToConfirm = 5 * time.Second

func newPaymentLine(
	operation string, window transport.Allowance, approval time.Duration, paced bool, logger *slog.Logger,
) *paymentLine {
	return &paymentLine{
		operation: operation, window: window, paced: paced, logger: logger,
		places: semaphore.NewWeighted(int64(underWay(window, approval))),
	}
}

// underWay is how many payments may stand between booking and confirm, where n calls pass in a window and approvals
// live for a time:
//
//	n × ⌊(lifetime − 5 s) / window⌋ × 9/10   if that is not zero,
//	n / 20                                   otherwise, and one at least.
//
// At worst, bookings take the last slots of a window, and all their confirms wait for the next one. In an approval's
// lifetime, less 5 seconds to sign and to travel, so many whole windows pass, each with room for n. Confirms go first
// there, but for the tenth that other writes keep. A window counts as long as it is held, 61 seconds for a minute.
//
// If the approval does not outlive a window, a confirm that misses the window of its booking is too late, and the
// payment is prepared anew. That befalls those that are between booking and confirm when the window is full: a
// twentieth of it at most.
//
// With 120 calls a minute that makes 108 payouts (120 s) and 6 deals (60 s).
func underWay(window transport.Allowance, approval time.Duration) int {
	windows := int((approval - roomToConfirm) / window.Held())
	if windows <= 0 {
		return max(window.Calls/20, 1)
	}
	return max(window.Calls*windows*9/10, 1)
}

// enter waits for a place, which leave gives up: after the confirm, or when there will be none. leave may be called
// more than once. A payment whose turn would come after the deadline is told so at once.
func (l *paymentLine) enter(ctx context.Context, key string) (leave func(), err error) {
	if l.places.TryAcquire(1) {
		return l.leave(), nil
	}
	before := l.waiting.Add(1) - 1
	defer l.waiting.Add(-1)
	if at := time.Now().Add(l.least(before)); l.paced && late(ctx, at) {
		return nil, l.refused(key, at, &transport.WaitTooLong{Window: transport.WindowWrites, Until: at})
	}
	began := time.Now()
	err = l.places.Acquire(ctx, 1)
	if queued := time.Since(began); queued >= time.Second {
		l.logger.LogAttrs(ctx, slog.LevelInfo, "moneymovement waited for its turn to pay",
			slog.String("operation", l.operation), slog.String("idempotencyKey", key), slog.Duration("queued", queued))
	}
	if err != nil {
		return nil, l.refused(key, time.Time{}, err)
	}
	return l.leave(), nil
}

func (l *paymentLine) leave() func() { return sync.OnceFunc(func() { l.places.Release(1) }) }

func (l *paymentLine) refused(key string, retryAt time.Time, err error) error {
	return &errors.NotDelivered{CallInfo: errors.CallInfo{Operation: l.operation, IdempotencyKey: key,
		RetryAt: retryAt},
		Err: err}
}

// least is how long a payment takes at least that has so many before it in line: each needs two calls, and so does this
// one.
func (l *paymentLine) least(before int64) time.Duration {
	calls := 2 * (before + 1)
	return time.Duration((calls-1)/int64(l.window.Calls)) * l.window.Held()
}

func late(ctx context.Context, at time.Time) bool {
	deadline, limited := ctx.Deadline()
	return limited && !at.Before(deadline)
}
