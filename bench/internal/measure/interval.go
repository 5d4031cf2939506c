package measure

import "slices"

// confidence is how probably an interval holds the true median.
const confidence = 0.95

// Estimate is the median of some values, and an interval from Low to High. The interval contains the true median with a
// probability of at least 95 %. Fewer than six values cannot give such an interval: then it is from the smallest value
// to the largest.
type Estimate struct {
	Median float64 `json:"median"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
}

// Above reports that an estimate is higher than another one, and their intervals do not overlap.
func (e Estimate) Above(other Estimate) bool { return e.Low > other.High }

// EstimateOf returns the estimate of the median. The ends of the interval are two of the values in order. This holds
// for every distribution, because each value is below the true median as often as a coin shows heads. Of ten values,
// the ends are the second and the ninth, and the interval holds the median with a probability of 97.9 %. The third and
// the eighth would reach 89.1 %.
func EstimateOf(values []float64) Estimate {
	if len(values) == 0 {
		return Estimate{}
	}
	sorted := slices.Sorted(slices.Values(values))
	out := outside(len(sorted))
	return Estimate{Median: median(sorted), Low: sorted[out], High: sorted[len(sorted)-1-out]}
}

// median returns the middle of sorted values.
func median(sorted []float64) float64 {
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle]
	}
	return (sorted[middle-1] + sorted[middle]) / 2
}

// outside returns how many of n sorted values lie outside of the interval, at each end.
func outside(n int) int {
	chance := 1.0 // that exactly k of n coins show heads, for k = 0
	for range n {
		chance /= 2
	}
	below := 0.0 // the chance of at most k heads
	for k := range n / 2 {
		if below += chance; 2*below > 1-confidence {
			return max(0, k-1)
		}
		chance *= float64(n-k) / float64(k+1)
	}
	return max(0, n/2-1)
}
