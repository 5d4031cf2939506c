package measure

import (
	"context"
	"fmt"
	"time"
)

// Plan says how long to measure.
type Plan struct {
	// Turns is how many times each side has its turn.
	Turns int
	// Block is about how long one side's turn takes.
	Block time.Duration
	// Most is the largest number of calls in a block, and of callers at once. 0 means no limit.
	Most int
}

// Result compares two sides. Each cost is the median over the turns, and each ratio is the first side's cost over the
// second's.
type Result struct {
	Calls int      `json:"calls"` // of each side in one turn
	First Cost     `json:"first"`
	Other Cost     `json:"other"`
	Wall  Estimate `json:"wall"`
	CPU   Estimate `json:"cpu"`
	// WallSpread is how far the turns of a side lie apart, as a share of the median: the greater of both sides.
	WallSpread float64 `json:"wallSpread"`
}

// Compare lets both sides take turns, each with so many callers at once. The side that goes second in one turn goes
// first in the next, because the second finds warm caches.
func Compare(ctx context.Context, first, other Call, callers int, plan Plan) (Result, error) {
	if plan.Most > 0 {
		callers = min(callers, plan.Most)
	}
	calls, err := enough(ctx, first, other, callers, plan)
	if err != nil {
		return Result{}, err
	}
	var costs [2][]Cost
	sides := [2]Call{first, other}
	for turn := range plan.Turns {
		for i := range sides {
			side := (turn + i) % 2
			cost, err := block(ctx, sides[side], calls, callers)
			if err != nil {
				return Result{}, err
			}
			costs[side] = append(costs[side], cost)
		}
	}
	return resultOf(calls, costs[0], costs[1]), nil
}

// enough returns how many calls fill a block, of the faster side. It also warms up both sides.
func enough(ctx context.Context, first, other Call, callers int, plan Plan) (int, error) {
	for calls := callers; ; calls *= 2 {
		least := time.Duration(1<<63 - 1)
		for _, side := range []Call{first, other} {
			cost, err := block(ctx, side, calls, callers)
			if err != nil {
				return 0, fmt.Errorf("to warm up: %w", err)
			}
			least = min(least, time.Duration(cost.Wall*float64(calls)))
		}
		switch {
		case plan.Most > 0 && calls >= plan.Most:
			return plan.Most, nil
		case least >= plan.Block/4:
			filled := float64(calls) * float64(plan.Block) / float64(least)
			if plan.Most > 0 {
				filled = min(filled, float64(plan.Most))
			}
			return max(int(filled), callers), nil
		}
	}
}

func resultOf(calls int, first, other []Cost) Result {
	var wall, cpu []float64
	for i := range first {
		wall = append(wall, ratio(first[i].Wall, other[i].Wall))
		cpu = append(cpu, ratio(first[i].CPU, other[i].CPU))
	}
	return Result{
		Calls: calls, First: medians(first), Other: medians(other),
		Wall: EstimateOf(wall), CPU: EstimateOf(cpu), WallSpread: max(apart(first), apart(other)),
	}
}

// ratio is 0 where nothing was measured: not every system reports the CPU time.
func ratio(first, other float64) float64 {
	if other == 0 {
		return 0
	}
	return first / other
}

// medians returns the median of each figure by itself.
func medians(costs []Cost) Cost {
	of := func(figure func(Cost) float64) float64 { return figures(costs, figure).Median }
	return Cost{
		Wall:   of(func(c Cost) float64 { return c.Wall }),
		CPU:    of(func(c Cost) float64 { return c.CPU }),
		Allocs: of(func(c Cost) float64 { return c.Allocs }),
		Bytes:  of(func(c Cost) float64 { return c.Bytes }),
	}
}

func figures(costs []Cost, figure func(Cost) float64) Estimate {
	values := make([]float64, len(costs))
	for i, cost := range costs {
		values[i] = figure(cost)
	}
	return EstimateOf(values)
}

// apart returns the width of the interval of a side's wall time, as a share of its median.
func apart(costs []Cost) float64 {
	wall := figures(costs, func(c Cost) float64 { return c.Wall })
	return ratio(wall.High-wall.Low, wall.Median)
}
