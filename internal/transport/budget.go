package transport

import "sync"

// budget bounds what all calls of a client together may spend on retries, so that an outage of the service is not
// multiplied by everyone trying again. A retry costs more than a success gives back: under steady failure retries die
// out.
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

// spend takes the price of one retry, or reports that there is none left.
func (b *budget) spend() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.tokens < retryCost {
		return false
	}
	b.tokens -= retryCost
	return true
}

// earn gives a little back for a success.
func (b *budget) earn() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tokens = min(b.tokens+successRefund, budgetSize)
}
