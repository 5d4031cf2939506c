package transport

import "sync"

// budget limits the retries of all calls of a client, so that retries do not make an outage worse. A retry costs more
// than a success gives back: while the service keeps failing, retries stop.
type budget struct {
	mu     sync.Mutex
	tokens int
}

const (
	budgetSize    = 500
	retryCost     = 5
	successRefund = 1
)

func newBudget() *budget { return &budget{tokens: budgetSize} }

// spend pays for one retry. It returns false if the budget is empty.
func (b *budget) spend() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.tokens < retryCost {
		return false
	}
	b.tokens -= retryCost
	return true
}

// earn pays a little back after a success.
func (b *budget) earn() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tokens = min(b.tokens+successRefund, budgetSize)
}
