package fleettest

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/fleet"
)

// Allowance is the short window of a [Load]. A call is held for 100 ms longer.
func Allowance() moneymovement.Allowance {
	return moneymovement.Allowance{Calls: 120, Per: 6 * time.Second}
}

// Load makes calls in real time.
type Load struct {
	Processes int // limiters, each with a connection of its own
	Callers   int // of each
	For       time.Duration
	Options   []fleet.Option
	Open      func() fleet.Windows // a connection
}

// Result is what a [Load] did.
type Result struct {
	At   []time.Duration // when each call was admitted, since the start
	Away int             // calls that failed because the store was away
}

// Run makes calls until the time is over. A call that fails because the store is away is made again after a moment.
func (l Load) Run(t *testing.T) (result Result) {
	t.Helper()
	var mu sync.Mutex
	var all sync.WaitGroup
	ctx, cancel := context.WithTimeout(t.Context(), l.For)
	defer cancel()
	began := time.Now()
	for range l.Processes {
		limiter, err := fleet.NewLimiter(l.Open(), "load", append(l.Options, fleet.WithWindow("w", Allowance()))...)
		if err != nil {
			t.Fatal(err)
		}
		for range l.Callers {
			all.Go(func() {
				for {
					err := limiter.Wait(ctx, moneymovement.RateCall{Window: "w", Class: moneymovement.ClassWrite})
					at := time.Since(began)
					_, away := errors.AsType[*fleet.StoreAway](err)
					if err != nil && !away {
						return // the time is over, or there is no room before
					}
					mu.Lock()
					if err == nil {
						result.At = append(result.At, at)
					} else {
						result.Away++
					}
					mu.Unlock()
					if away {
						pause(ctx, 50*time.Millisecond)
					}
				}
			})
		}
	}
	all.Wait()
	slices.Sort(result.At)
	return result
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// Most returns the largest number of calls within any window as the service counts it.
func (r Result) Most() (largest int) {
	first := 0
	for i := range r.At {
		for r.At[i]-r.At[first] >= Allowance().Per {
			first++
		}
		largest = max(largest, i-first+1)
	}
	return largest
}

// Used returns which part of the window was used, over the whole periods of a time.
func (r Result) Used(periods int) float64 {
	end := time.Duration(periods-1)*Allowance().Held() + Allowance().Held()/2
	used := 0
	for _, at := range r.At {
		if len(r.At) > 0 && at-r.At[0] < end {
			used++
		}
	}
	return float64(used) / float64(periods*Allowance().Calls)
}

// Killed runs 16 processes over a store that is killed after 5 seconds and comes back after 9, and fails if no call
// fails in between, if the calls do not go on, or if the loss of the log lets more than one window more through.
func Killed(t *testing.T, kill, restart func(), open func() fleet.Windows) {
	t.Helper()
	const periods = 4
	held := Allowance().Held()
	began := time.Now()
	load := Load{Processes: 16, Callers: 5, For: (periods-1)*held + held/2, Open: open,
		Options: []fleet.Option{fleet.WithPatience(300 * time.Millisecond)}}
	done := make(chan Result, 1)
	go func() { done <- load.Run(t) }()
	<-time.After(time.Until(began.Add(5 * time.Second)))
	kill()
	<-time.After(time.Until(began.Add(9 * time.Second)))
	restart()
	result := <-done
	late := 0
	for _, at := range result.At {
		if at > 13*time.Second {
			late++
		}
	}
	t.Logf("%d calls, at most %d in a window, %d failed", len(result.At), result.Most(), result.Away)
	if late < 100 || result.Most() > 2*Allowance().Calls || result.Away == 0 {
		t.Errorf("%d calls after the restart, at most %d in a window, %d failed", late, result.Most(), result.Away)
	}
}
