// Package load makes very many calls of the SDK, to see that the memory that it holds does not grow.
package load

import (
	"context"
	"fmt"
	"net/http"
	"runtime"
	"time"

	"github.com/moneymovement/moneymovement-go/bench/internal/cases"
	"github.com/moneymovement/moneymovement-go/bench/internal/report"
	"github.com/moneymovement/moneymovement-go/bench/internal/service"
	"github.com/moneymovement/moneymovement-go/dapi"
)

// Measure makes so many GETs, and reads so many entries of a ledger by the iterator. It returns the live heap at the
// start, in the middle and at the end of both, and the time.
func Measure(ctx context.Context, calls int) ([]report.Figure, error) {
	gets, err := cases.SDK(service.Always(http.StatusOK, service.Payout(service.Plain)))
	if err != nil {
		return nil, err
	}
	figures, err := follow(fmt.Sprintf("%d GETs", calls), calls, func(done func()) error {
		for range calls {
			if _, err := gets.Payouts.Get(ctx, service.PayoutID); err != nil {
				return err
			}
			done()
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	reader, err := cases.SDK(service.LongLedger(calls / service.PageLength))
	if err != nil {
		return nil, err
	}
	entries, err := follow(fmt.Sprintf("%d ledger entries", calls), calls, func(done func()) error {
		for _, err := range reader.Transactions.All(ctx, dapi.ListTransactionsParams{Limit: service.PageLength}) {
			if err != nil {
				return err
			}
			done()
		}
		return nil
	})
	return append(figures, entries...), err
}

// follow does work of so many steps, and measures the live heap before it, in the middle and after it. The work calls
// done after each step.
func follow(name string, steps int, work func(done func()) error) ([]report.Figure, error) {
	heap := func(when string) report.Figure {
		return report.Figure{Name: name + ": live heap " + when, Value: live() / 1e6, Unit: "MB"}
	}
	count, figures := 0, []report.Figure{heap("at the start")}
	started := time.Now()
	err := work(func() {
		if count++; count == steps/2 {
			figures = append(figures, heap("in the middle"))
		}
	})
	took := time.Since(started)
	if err == nil && count != steps {
		err = fmt.Errorf("%s: %d steps", name, count)
	}
	return append(figures, heap("at the end"), report.Figure{Name: name + ": time", Value: took.Seconds(), Unit: "s"}),
		err
}

// live returns the bytes on the heap that are still used.
func live() float64 {
	runtime.GC()
	runtime.GC() // what the first one left in pools
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return float64(stats.HeapAlloc)
}
