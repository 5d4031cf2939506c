package dapi

import (
	"context"
	"iter"
	"slices"
	"sync"

	"golang.org/x/sync/semaphore"

	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// PayoutResult is what [Payouts.WaitAll] came to for one payout: what [Payouts.Wait] would have returned.
type PayoutResult struct {
	ID PayoutID
	// Payout is as last read, nil if no read succeeded.
	Payout *Payout
	// Err is nil for a payout that is `completed`.
	Err error
}

// maxConcurrentReads bounds how many reads of a WaitAll are under way or in line for the window, so that any number of payouts
// burdens neither.
const maxConcurrentReads = 32

// WaitAll waits for many payouts and gives each as soon as its wait is over, in the order in which they end. An error
// about one does not end the others. If ctx ends first, all that are left come with *StillPending. Each id comes once.
// To leave the loop ends the waits. The function of [OnProgress] is called for one payout at a time.
//
//	for waited := range account.Payouts.WaitAll(ctx, ids) {
//		if waited.Err != nil { ... }
//	}
//
// Payouts take turns: none is read twice while another waits for its read. Of the 600 reads a minute that the service
// allows, a client leaves 60 to other reads and makes up to 540 for waits, in 61 seconds: 531 a minute. By default, a
// payout is read 5 times a minute in the end, so that a hundred are read at that pace. More are read less often: a
// thousand each every 2 minutes, ten thousand every 19. While other reads use up the window, waits keep a tenth of it,
// 59 reads a minute.
//
// Source: Events (polling should back off); Limits, Rate windows.
func (s *Payouts) WaitAll(ctx context.Context, ids []PayoutID, options ...WaitOption) iter.Seq[PayoutResult] {
	return func(yield func(PayoutResult) bool) {
		pending := distinct(ids)
		if err := transport.Of(s).low.ready(ctx, &opGetPayout); err != nil {
			for _, id := range pending {
				if !yield(PayoutResult{ID: id, Err: err}) {
					return
				}
			}
			return
		}
		waiting, stop := context.WithCancel(ctx)
		var (
			waits   sync.WaitGroup
			waited  = make(chan PayoutResult)
			left    = make(chan struct{})
			reading = semaphore.NewWeighted(maxConcurrentReads)
		)
		defer waits.Wait()
		defer stop()
		defer close(left)
		inTurn := append(slices.Clone(options), oneAtATime())
		for _, id := range pending {
			waits.Go(func() {
				payout, err := s.wait(waiting, id, inTurn, func(ctx context.Context) (*Payout, error) {
					if err := reading.Acquire(ctx, 1); err != nil {
						return nil, err
					}
					defer reading.Release(1)
					return s.low.as(transport.ClassPoll).GetPayout(ctx, id, nil)
				})
				select {
				case waited <- PayoutResult{ID: id, Payout: payout, Err: err}:
				case <-left:
				}
			})
		}
		for range pending {
			if !yield(<-waited) {
				return
			}
		}
	}
}

// distinct gives each id once, in the order in which they first stand.
func distinct(ids []PayoutID) []PayoutID {
	known := make(map[PayoutID]bool, len(ids))
	return slices.DeleteFunc(slices.Clone(ids), func(id PayoutID) bool {
		again := known[id]
		known[id] = true
		return again
	})
}

// oneAtATime lets the waits that share it report their progress one after the other.
func oneAtATime() WaitOption {
	var reporting sync.Mutex
	return func(w *waiting) {
		report := w.progress
		w.progress = func(p Progress) {
			reporting.Lock()
			defer reporting.Unlock()
			report(p)
		}
	}
}
