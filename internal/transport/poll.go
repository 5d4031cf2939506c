package transport

import (
	"context"
	"math/rand/v2"
	"time"
)

// Pace bounds the pauses between two reads of something that is waited for: Least at first, half as much again each time, Most in the end.
type Pace struct{ Least, Most time.Duration }

// DefaultPace finds quick things quickly and burdens nobody for long ones.
//
// Source: Events (polling should back off).
func DefaultPace() Pace { return Pace{Least: 500 * time.Millisecond, Most: 15 * time.Second} }

// The bounds keep a wait from spinning, and its arithmetic from overflowing.
const (
	shortestPause = time.Millisecond
	longestPause  = 24 * time.Hour
)

// NewPace keeps what the caller says within 1 ms and 24 h.
func NewPace(least, most time.Duration) Pace {
	least = min(max(least, shortestPause), longestPause)
	return Pace{least, min(max(most, least), longestPause)}
}

// Poll reads until read is done or fails, and returns the context's error if that ends first. Pauses are drawn at random from the upper
// half, so that many waits do not read in step.
func (p Pace) Poll(ctx context.Context, read func(context.Context) (done bool, err error)) error {
	for pause := p.Least; ; pause = min(pause*3/2, p.Most) {
		done, err := read(ctx)
		if done || err != nil {
			return err
		}
		if err := Pause(ctx, pause/2+rand.N(pause/2+1)); err != nil { //nolint:gosec // jitter, not a secret
			return err
		}
	}
}

// Pause lets time pass, or returns the context's error if that ends first.
func Pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
