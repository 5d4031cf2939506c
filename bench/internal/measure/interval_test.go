package measure

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestEstimate(t *testing.T) {
	for name, c := range map[string]struct {
		values []float64
		want   Estimate
	}{
		"none":                         {nil, Estimate{}},
		"one":                          {[]float64{3}, Estimate{3, 3, 3}},
		"two":                          {[]float64{4, 2}, Estimate{3, 2, 4}},
		"five: least and greatest":     {[]float64{5, 1, 4, 2, 3}, Estimate{3, 1, 5}},
		"eight: least and greatest":    {[]float64{1, 2, 3, 4, 5, 6, 7, 8}, Estimate{4.5, 1, 8}},
		"ten: the second and ninth":    {[]float64{10, 9, 8, 7, 6, 5, 4, 3, 2, 1}, Estimate{5.5, 2, 9}},
		"an outlier moves no estimate": {[]float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 1000}, Estimate{5.5, 2, 9}},
	} {
		assert.Equal(t, c.want, EstimateOf(c.values), name)
	}
}

// The interval holds the true median as often as it says, also of a lopsided distribution.
func TestIntervalHoldsTheMedian(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{6, 10, 25, 100} {
		held := 0
		const trials = 4000
		for range trials {
			values := make([]float64, n)
			for i := range values {
				u := random.Float64() // its median is a half, and so is that of its cube, cubed
				values[i] = u * u * u
			}
			if e := EstimateOf(values); e.Low <= 0.125 && 0.125 <= e.High {
				held++
			}
		}
		assert.Greater(t, float64(held)/trials, 0.94, n)
	}
}

func TestOnlyIntervalsThatDoNotOverlapDiffer(t *testing.T) {
	low, middle, high := Estimate{1, 0.9, 1.1}, Estimate{1.15, 1.05, 1.2}, Estimate{1.3, 1.25, 1.4}
	assert.True(t, high.Above(low))
	assert.True(t, high.Above(middle))
	assert.False(t, middle.Above(low), "they overlap")
	assert.False(t, low.Above(high), "it is lower")
	assert.False(t, low.Above(low))
}
