package measure

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/moneymovement/moneymovement-go/bench/internal/usage"
)

// Call does one unit of work.
type Call func(ctx context.Context) error

// Cost is what one call costs. CPU is the time of all cores of the process, in the kernel as well, and includes the
// garbage collector. Wall and CPU are in nanoseconds.
type Cost struct {
	Wall   float64 `json:"wall"`
	CPU    float64 `json:"cpu"`
	Allocs float64 `json:"allocs"`
	Bytes  float64 `json:"bytes"`
}

// block makes calls from so many goroutines at once, and returns the cost of one call. It collects the garbage first,
// so that no side pays for what the other left behind.
func block(ctx context.Context, call Call, calls, callers int) (Cost, error) {
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	cpu, started := usage.CPU(), time.Now()
	err := spread(ctx, call, calls, callers)
	took, burnt := time.Since(started), usage.CPU()-cpu
	runtime.ReadMemStats(&after)
	n := float64(calls)
	return Cost{
		Wall:   float64(took) / n,
		CPU:    float64(burnt) / n,
		Allocs: float64(after.Mallocs-before.Mallocs) / n,
		Bytes:  float64(after.TotalAlloc-before.TotalAlloc) / n,
	}, err
}

// spread makes the calls, and returns the first error. A single caller needs no goroutine.
func spread(ctx context.Context, call Call, calls, callers int) error {
	if callers <= 1 {
		for range calls {
			if err := call(ctx); err != nil {
				return err
			}
		}
		return nil
	}
	var (
		left  atomic.Int64
		first atomic.Pointer[error]
		group sync.WaitGroup
	)
	left.Store(int64(calls))
	for range callers {
		group.Go(func() {
			for first.Load() == nil && left.Add(-1) >= 0 {
				if err := call(ctx); err != nil {
					first.CompareAndSwap(nil, &err)
				}
			}
		})
	}
	group.Wait()
	if err := first.Load(); err != nil {
		return *err
	}
	return nil
}
