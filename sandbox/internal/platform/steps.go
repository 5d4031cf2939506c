package platform

import (
	"container/heap"
	"slices"
	"time"
)

// steps are payouts with a step to come. The payout whose step is due first is first. Payouts whose steps are due at
// the same time are in the order in which they were added.
type steps struct {
	queue stepQueue
	added int
}

type step struct {
	payout *payout
	due    time.Time
	number int // in the order of adding
}

// add adds a payout with its step.
func (s *steps) add(p *payout, due time.Time) {
	s.added++
	heap.Push(&s.queue, step{p, due, s.added})
}

// run calls perform for every payout whose step is due. perform makes the step, and returns when the payout's next step
// is due, or zero without one.
func (s *steps) run(now time.Time, perform func(*payout) time.Time) {
	for len(s.queue) > 0 && !now.Before(s.queue[0].due) {
		next, _ := heap.Pop(&s.queue).(step)
		if due := perform(next.payout); !due.IsZero() {
			heap.Push(&s.queue, step{next.payout, due, next.number})
		}
	}
}

// reorder puts the payouts in the order of compare, as if they had been added in this order.
func (s *steps) reorder(compare func(a, b *payout) int) {
	slices.SortStableFunc(s.queue, func(a, b step) int { return compare(a.payout, b.payout) })
	for i := range s.queue {
		s.queue[i].number = i + 1
	}
	s.added = len(s.queue)
	heap.Init(&s.queue)
}

// stepQueue implements [heap.Interface].
type stepQueue []step

func (q stepQueue) Len() int      { return len(q) }
func (q stepQueue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q stepQueue) Less(i, j int) bool {
	if q[i].due.Equal(q[j].due) {
		return q[i].number < q[j].number
	}
	return q[i].due.Before(q[j].due)
}

// Push adds a step at the end. Package heap calls it, and Pop.
func (q *stepQueue) Push(added any) {
	if next, ok := added.(step); ok {
		*q = append(*q, next)
	}
}

// Pop removes the last step.
func (q *stepQueue) Pop() any {
	last := len(*q) - 1
	popped := (*q)[last]
	(*q)[last] = step{} // so that the payout can be collected
	*q = (*q)[:last]
	return popped
}
