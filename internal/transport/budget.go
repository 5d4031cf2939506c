package transport

import "sync/atomic"

// budget limits the retries of all calls of a client, so that retries do not make an outage worse. A retry costs more
// than a success gives back: while the service keeps failing, retries stop.
type budget struct{ tokens atomic.Int64 }

const (
	budgetSize    = 500
	retryCost     = 5
	successRefund = 1
)

func newBudget() *budget {
	b := new(budget)
	b.tokens.Store(budgetSize)
	return b
}

// spend pays for one retry. It returns false if the budget is empty.
func (b *budget) spend() bool {
	for {
		tokens := b.tokens.Load()
		if tokens < retryCost {
			return false
		}
		if b.tokens.CompareAndSwap(tokens, tokens-retryCost) {
			return true
		}
	}
}

// earn pays a little back after a success. It writes nothing while the budget is full, so that callers on many cores do
// not wait for each other.
func (b *budget) earn() {
	for {
		tokens := b.tokens.Load()
		if tokens == budgetSize || b.tokens.CompareAndSwap(tokens, min(tokens+successRefund, budgetSize)) {
			return
		}
	}
}
