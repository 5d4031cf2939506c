// Package bench measures what the SDK costs beside a client written by hand on net/http and encoding/json, and the SDKs
// of other services beside the same. README.md says how to read the figures.
package bench

import (
	"net/http"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/dapi"
)

// BenchmarkCall has a row for each kind of work, such as memory/get, and two sides in each row.
func BenchmarkCall(b *testing.B) {
	for _, r := range rows() {
		b.Run(r.name, func(b *testing.B) {
			b.Run("side=hand", func(b *testing.B) { measure(b, r, false) })
			b.Run("side=sdk", func(b *testing.B) { measure(b, r, true) })
		})
	}
}

// measure also reports the time of all cores of the process, in the kernel as well. It includes the garbage collector
// and, over a network, the service.
func measure(b *testing.B, r row, sdk bool) {
	_, read := r.open(b, sdk)
	call := func() {
		if _, err := read(b.Context()); err != nil {
			b.Error(err)
		}
	}
	var first sync.WaitGroup // loads the session, opens a connection for each caller
	for range r.callers {
		first.Go(call)
	}
	first.Wait()
	b.ReportAllocs()
	started := cpuTime(b)
	if r.callers == 1 {
		for b.Loop() {
			call()
		}
	} else {
		b.SetParallelism(max(1, r.callers/runtime.GOMAXPROCS(0)))
		b.ResetTimer()
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				call()
			}
		})
	}
	b.ReportMetric(float64(cpuTime(b)-started)/float64(b.N), "cpu-ns/op")
}

func cpuTime(tb testing.TB) int64 {
	tb.Helper()
	var used syscall.Rusage
	require.NoError(tb, syscall.Getrusage(syscall.RUSAGE_SELF, &used))
	return used.Utime.Nano() + used.Stime.Nano()
}

// mostAllocations limits the SDK's allocations for each kind of call. The limits are the present numbers, with room for
// one or two in a hundred.
var mostAllocations = map[string]float64{
	"get": 37, "write": 53, "page": 490, "iterate": 4950,
	"get-unknown": 37, "page-unknown": 490, "get-greek": 38, "page-greek": 690, "get-other": 39, "page-other": 493,
	"error-404": 14, "error-409": 32, "error-429": 20, "pay": 285,
}

// TestAllocations holds the SDK to the limits, and to what the hand-written client allocates on the same release of Go.
func TestAllocations(t *testing.T) {
	for _, r := range ownRows() {
		kind, inMemory := strings.CutPrefix(r.name, "memory/")
		if !inMemory || r.callers > 1 || kind == "login" {
			continue
		}
		t.Run(kind, func(t *testing.T) {
			require.Contains(t, mostAllocations, kind)
			sdk, byHand := allocations(t, r, true), allocations(t, r, false)
			t.Logf("%.0f allocations, by hand %.0f", sdk, byHand)
			assert.LessOrEqual(t, sdk, mostAllocations[kind], "of the SDK")
			if kind != "pay" { // on Go 1.27, encoding/json allocates less there
				assert.Less(t, sdk, byHand, "of the SDK, and by hand")
			}
		})
	}
}

func allocations(t *testing.T, r row, sdk bool) float64 {
	t.Helper()
	_, read := r.open(t, sdk)
	return testing.AllocsPerRun(100, func() {
		if _, err := read(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// BenchmarkHeap makes many calls and reads a long ledger, to see how much memory the SDK then holds.
func BenchmarkHeap(b *testing.B) {
	for name, work := range longWorks {
		b.Run(name, func(b *testing.B) { b.ReportMetric(growth(b, b.N, work), "B-more") })
	}
}

// The heap holds no more in the middle and at the end than what a client and a page need.
func TestHeapDoesNotGrow(t *testing.T) {
	for name, work := range longWorks {
		assert.Less(t, growth(t, 20_000, work), 1e6, name)
	}
}

// longWorks call done after each step.
var longWorks = map[string]func(tb testing.TB, steps int, done func()){
	"gets": func(tb testing.TB, steps int, done func()) {
		account := serve(tb, "memory", always(http.StatusOK, payout(plain)), 1).loggedIn(tb)
		for range steps {
			_, err := account.Payouts.Get(tb.Context(), payoutID)
			require.NoError(tb, err)
			done()
		}
	},
	"entries": func(tb testing.TB, steps int, done func()) {
		account := serve(tb, "memory", ledger(1+steps/pageLength), 1).loggedIn(tb)
		for _, err := range account.Transactions.All(tb.Context(), dapi.ListTransactionsParams{Limit: pageLength}) {
			require.NoError(tb, err)
			done()
		}
	},
}

// growth returns how many bytes more are live in the middle or at the end of the work than at its start.
func growth(tb testing.TB, steps int, work func(tb testing.TB, steps int, done func())) float64 {
	tb.Helper()
	live := func() float64 {
		runtime.GC()
		runtime.GC() // what the first one left in pools
		var stats runtime.MemStats
		runtime.ReadMemStats(&stats)
		return float64(stats.HeapAlloc)
	}
	count, start, most := 0, live(), 0.0
	work(tb, steps, func() {
		if count++; count == steps/2 || count == steps {
			most = max(most, live()-start)
		}
	})
	require.GreaterOrEqual(tb, count, steps)
	return most
}
