package measure

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var kept atomic.Pointer[[]byte]

// allocating makes so many allocations of so many bytes.
func allocating(count, size int) Call {
	return func(context.Context) error {
		for range count {
			made := make([]byte, size)
			kept.Store(&made)
		}
		return nil
	}
}

func TestCompare(t *testing.T) {
	for _, callers := range []int{1, 4} {
		got, err := Compare(t.Context(), allocating(20, 4096), allocating(60, 4096), callers,
			Plan{Turns: 6, Block: 2 * time.Millisecond})
		require.NoError(t, err)
		assert.Greater(t, got.Calls, callers)
		assert.Less(t, got.Wall.Low, 1.0)
		assert.LessOrEqual(t, got.Wall.Low, got.Wall.Median)
		assert.LessOrEqual(t, got.Wall.Median, got.Wall.High)
		assert.Greater(t, got.First.Wall, 0.0)
		assert.InDelta(t, 40, got.First.Allocs, 5, "a slice and its header")
		assert.InDelta(t, 120, got.Other.Allocs, 15)
		assert.InDelta(t, 3, got.Other.Bytes/got.First.Bytes, 0.3)
	}
}

func TestCompareStopsAtTheFirstError(t *testing.T) {
	broken := errors.New("broken")
	var calls atomic.Int64
	fails := func(context.Context) error {
		calls.Add(1)
		return broken
	}
	for _, callers := range []int{1, 8} {
		_, err := Compare(t.Context(), fails, allocating(1, 1), callers, Plan{Turns: 2, Block: time.Millisecond})
		require.ErrorIs(t, err, broken)
	}
	assert.LessOrEqual(t, calls.Load(), int64(9))
}

func TestABlockHasAtMostSoManyCalls(t *testing.T) {
	var calls atomic.Int64
	counts := func(context.Context) error {
		calls.Add(1)
		return nil
	}
	for _, callers := range []int{1, 64} {
		got, err := Compare(t.Context(), counts, counts, callers, Plan{Turns: 3, Block: time.Hour, Most: 7})
		require.NoError(t, err)
		assert.Equal(t, 7, got.Calls)
	}
}
