package fleet_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/fleet"
	"github.com/moneymovement/moneymovement-go/internal/ratewindow"
)

const credential = "0123456789abcdef"

var classes = []moneymovement.RateClass{
	moneymovement.ClassRefresh, moneymovement.ClassConfirm, moneymovement.ClassWrite, moneymovement.ClassRead,
	moneymovement.ClassPoll,
}

func newLimiter(t testing.TB, windows fleet.Windows, options ...fleet.Option) *fleet.Limiter {
	t.Helper()
	limiter, err := fleet.NewLimiter(windows, credential, options...)
	require.NoError(t, err)
	return limiter
}

// coming is a call of a drawn sequence.
type coming struct {
	after   time.Duration // since the call before
	process int
	class   moneymovement.RateClass
}

type admission struct {
	at    time.Duration
	class moneymovement.RateClass
}

// run makes the calls on virtual time, and returns when each was admitted, in order.
func run(t *testing.T, calls []coming, wait func(process int, class moneymovement.RateClass) error) (all []admission) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		var mu sync.Mutex
		var waiting sync.WaitGroup
		for _, c := range calls {
			time.Sleep(c.after)
			waiting.Go(func() {
				if err := wait(c.process, c.class); err != nil {
					assert.NoError(t, err)
					return
				}
				mu.Lock()
				defer mu.Unlock()
				all = append(all, admission{time.Since(began), c.class})
			})
			synctest.Wait()
		}
		waiting.Wait()
	})
	return all
}

func drawCalls(rt *rapid.T, processes int) []coming {
	among := classes
	if processes > 1 { // the last polls leave a tenth free, and in another order others are the last
		among = classes[:len(classes)-1]
	}
	return rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) coming {
		return coming{
			after: time.Duration(rapid.SampledFrom([]int{0, 0, 0, 1, 50, 400, 3000, 20_000}).Draw(rt, "after")) *
				time.Millisecond,
			process: rapid.IntRange(0, processes-1).Draw(rt, "process"),
			class:   rapid.SampledFrom(among).Draw(rt, "class"),
		}
	}), 1, 150).Draw(rt, "calls")
}

// most returns the largest number of calls within any period of the given length.
func most(all []admission, held time.Duration) (largest int) {
	first := 0
	for i := range all {
		for all[i].at-all[first].at >= held {
			first++
		}
		largest = max(largest, i-first+1)
	}
	return largest
}

// However many processes share a window, they make together what one process would make with its own limiter: never
// more than the window in any period, and nothing later.
func TestManyProcessesTogetherAreLikeOne(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		allowance := moneymovement.Allowance{Calls: rapid.SampledFrom([]int{1, 3, 10, 20}).Draw(rt, "window"),
			Per: time.Minute}
		processes := rapid.SampledFrom([]int{1, 2, 5}).Draw(rt, "processes")
		calls := drawCalls(rt, processes)
		local := ratewindow.New(map[moneymovement.Window]moneymovement.Allowance{"w": allowance}, nil)
		var limiters []*fleet.Limiter
		windows := new(fleet.Memory)
		for range processes {
			limiters = append(limiters, newLimiter(t, windows, fleet.WithWindow("w", allowance)))
		}
		want := run(t, calls, func(_ int, class moneymovement.RateClass) error {
			return local.Wait(context.Background(), moneymovement.RateCall{Window: "w", Class: class})
		})
		got := run(t, calls, func(process int, class moneymovement.RateClass) error {
			return limiters[process].Wait(context.Background(), moneymovement.RateCall{Window: "w", Class: class})
		})
		if n := most(got, allowance.Span()-microseconds); n > allowance.Calls {
			rt.Fatalf("%d calls in a period, of %d allowed", n, allowance.Calls)
		}
		if len(got) != len(want) {
			rt.Fatalf("%d calls admitted, of %d", len(got), len(want))
		}
		inOrder(want)
		inOrder(got)
		for i := range want {
			if got[i].at-want[i].at > allowance.Span()/50 {
				rt.Fatalf("call %d: %v, and with its own limiter %v\n%s", i, got[i], want[i], compared(want, got))
			}
		}
		for _, class := range classes {
			of, ofOwn := only(got, class), only(want, class)
			for i := range ofOwn {
				if processes == 1 && of[i].at-ofOwn[i].at > givenAhead {
					rt.Fatalf("%s %d: %v, and with its own limiter %v\n%s", class, i, of[i], ofOwn[i],
						compared(want, got))
				}
			}
		}
	})
}

// givenAhead is how long before its time a slot is given out. A call that comes in between may wait for that slot.
const givenAhead = 250 * time.Millisecond

func only(all []admission, class moneymovement.RateClass) (some []admission) {
	for _, a := range all {
		if a.class == class {
			some = append(some, a)
		}
	}
	return some
}

// inOrder sorts calls that were admitted at the same time, to the millisecond.
func inOrder(all []admission) {
	for i := range all {
		all[i].at = all[i].at.Round(time.Millisecond)
	}
	slices.SortFunc(all, func(a, b admission) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.class, b.class))
	})
}

// microseconds is how far a clock of microseconds may be off after some calls.
const microseconds = 50 * time.Microsecond

func compared(want, got []admission) (text string) {
	for i := range want {
		mark := ""
		if want[i] != got[i] {
			mark = " !"
		}
		text += fmt.Sprintln(i, want[i], got[i], mark)
	}
	return text
}
