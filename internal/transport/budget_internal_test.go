package transport

import (
	"sync"
	"sync/atomic"
	"testing"
)

// Callers that spend and earn at the same time cannot overdraw the budget, and cannot fill it beyond its size.
func TestBudgetIsExactForManyCallers(t *testing.T) {
	b := newBudget()
	var all sync.WaitGroup
	var paid atomic.Int64
	for range 64 {
		all.Go(func() {
			for range 100 {
				if b.spend() {
					paid.Add(1)
				}
			}
		})
	}
	all.Wait()
	if got := paid.Load(); got != budgetSize/retryCost {
		t.Errorf("%d retries were paid, not %d", got, budgetSize/retryCost)
	}
	for range 64 {
		all.Go(func() {
			for range 100 {
				b.earn()
			}
		})
	}
	all.Wait()
	if got := b.tokens.Load(); got != budgetSize {
		t.Errorf("the budget has %d tokens, not %d", got, budgetSize)
	}
}
