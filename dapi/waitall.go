package dapi

import (
	"context"
	"iter"
	"slices"
	"sync"

	"golang.org/x/sync/semaphore"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// PayoutResult is the result of [Payouts.WaitAll] for one payout. Payout and Err are what [Payouts.Wait] would have
// returned.
type PayoutResult struct {
	ID PayoutID
	// Payout is the payout as last read, nil if no read succeeded.
	Payout *Payout
	// Err is nil if the payout is `completed`.
	Err error
}

// maxConcurrentReads limits how many reads of one WaitAll are sent, or wait for the rate window, at the same time.
const maxConcurrentReads = 32

// WaitAll waits for many payouts. It yields each one when its wait is over, in the order in which they end:
//
//	for result := range account.Payouts.WaitAll(ctx, ids) {
//		switch _, ended := errors.AsType[*dapi.PayoutNotCompleted](result.Err); {
//		case result.Err == nil: // the money has arrived
//		case ended:             // the payout failed, was refunded or expired: to pay, use a new key
//		default:                // nothing new is known: keep what you stored, and wait for the payout again later
//		}
//	}
//
// An error about one payout does not end the others. If ctx ends first, all remaining payouts are yielded with
// *moneymovement.StillPending. An id that is given twice is yielded once. To stop the waits, leave the loop. The
// function of [moneymovement.OnProgress] is called for one payout at a time.
//
// # How often payouts are read
//
// Payouts are read in turn: none is read twice while another one waits for its read. The service allows 600 reads in a
// minute. A client leaves 60 of them to other reads and uses up to 540 for waits, in 61 seconds: 531 a minute. By
// default, after the first pauses, a payout is read about 5 times a minute, if there are at most a hundred. More
// payouts are read less often: each of a thousand every 2 minutes, each of ten thousand every 19 minutes. While other
// reads fill the window, waits keep a tenth of it, which is 59 reads a minute.
func (s *Payouts) WaitAll(ctx context.Context, ids []PayoutID,
	options ...moneymovement.WaitOption) iter.Seq[PayoutResult] {
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
		inTurn := oneAtATime(options)
		for _, id := range pending {
			waits.Go(func() {
				payout, err := s.wait(waiting, id, inTurn, func(ctx context.Context) (*Payout, error) {
					if err := reading.Acquire(ctx, 1); err != nil {
						return nil, err
					}
					defer reading.Release(1)
					return s.low.as(moneymovement.ClassPoll).GetPayout(ctx, id, nil)
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

// distinct returns each id once, in the order of their first appearance.
func distinct(ids []PayoutID) []PayoutID {
	known := make(map[PayoutID]bool, len(ids))
	return slices.DeleteFunc(slices.Clone(ids), func(id PayoutID) bool {
		again := known[id]
		known[id] = true
		return again
	})
}

// oneAtATime adds to the options that the waits that share them report their progress one after the other.
func oneAtATime(options []moneymovement.WaitOption) []moneymovement.WaitOption {
	report := moneymovement.WaitSettingsOf(options...).Progress
	if report == nil {
		return options
	}
	var reporting sync.Mutex
	return append(slices.Clip(options), moneymovement.OnProgress(func(p moneymovement.Progress) {
		reporting.Lock()
		defer reporting.Unlock()
		report(p)
	}))
}
