package bench

import (
	"cmp"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"
)

// cost is the cost of one call.
type cost struct{ nanos, allocs, bytes float64 }

// BenchmarkAgainstHand prints, for each call, the cost of the SDK, and its ratio to the same call by hand. The columns
// ns/op, B/op and allocs/op are the SDK's. The others are ratios: below one, the SDK needs less.
func BenchmarkAgainstHand(b *testing.B) {
	var table strings.Builder
	rows := tabwriter.NewWriter(&table, 0, 0, 3, ' ', tabwriter.AlignRight)
	fmt.Fprintln(rows, "call\tµs SDK\tµs hand\tratio\tallocs SDK\tallocs hand\tratio\tB SDK\tB hand\tratio\t")
	for _, c := range comparisons(b) {
		b.Run(c.name, func(b *testing.B) {
			sdk, hand := c.measure(b)
			b.ReportMetric(sdk.nanos, "ns/op")
			b.ReportMetric(sdk.allocs, "allocs/op")
			b.ReportMetric(sdk.bytes, "B/op")
			b.ReportMetric(sdk.nanos/hand.nanos, "time/hand")
			b.ReportMetric(sdk.allocs/hand.allocs, "allocs/hand")
			b.ReportMetric(sdk.bytes/hand.bytes, "B/hand")
			fmt.Fprintf(rows, "%s\t%.1f\t%.1f\t%.2f\t%.0f\t%.0f\t%.2f\t%.0f\t%.0f\t%.2f\t\n", c.name,
				sdk.nanos/1e3, hand.nanos/1e3, sdk.nanos/hand.nanos,
				sdk.allocs, hand.allocs, sdk.allocs/hand.allocs,
				sdk.bytes, hand.bytes, sdk.bytes/hand.bytes)
		})
	}
	_ = rows.Flush()
	fmt.Print("\n", table.String(), "\n") // b.Log would need -v
}

// measure lets both sides take turns, and returns each side's median cost of a call. The side that goes second in one
// turn goes first in the next, because the second finds warm caches and the first one's garbage.
func (c *comparison) measure(b *testing.B) (sdk, hand cost) {
	var sdks, hands []cost
	for turn := 0; b.Loop(); turn++ {
		if turn%2 == 0 {
			sdks = append(sdks, c.turn(b, c.sdk))
		}
		hands = append(hands, c.turn(b, c.hand))
		if turn%2 != 0 {
			sdks = append(sdks, c.turn(b, c.sdk))
		}
	}
	return median(sdks), median(hands)
}

// turn makes one batch of calls.
func (c *comparison) turn(b *testing.B, call call) cost {
	ctx := b.Context()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	started := time.Now()
	for range c.batch {
		if _, err := call(ctx); err != nil {
			b.Fatal(err)
		}
	}
	took := time.Since(started)
	runtime.ReadMemStats(&after)
	n := float64(c.batch)
	return cost{
		nanos:  float64(took.Nanoseconds()) / n,
		allocs: float64(after.Mallocs-before.Mallocs) / n,
		bytes:  float64(after.TotalAlloc-before.TotalAlloc) / n,
	}
}

// median returns the median of each figure by itself.
func median(costs []cost) cost {
	middle := func(figure func(cost) float64) float64 {
		slices.SortFunc(costs, func(x, y cost) int { return cmp.Compare(figure(x), figure(y)) })
		return figure(costs[len(costs)/2])
	}
	return cost{
		nanos:  middle(func(c cost) float64 { return c.nanos }),
		allocs: middle(func(c cost) float64 { return c.allocs }),
		bytes:  middle(func(c cost) float64 { return c.bytes }),
	}
}
