package simulation

import (
	"context"
	"strconv"
	"sync"

	moneymovement "github.com/moneymovement/moneymovement-go"
)

// callLog notes how often each call was sent.
type callLog struct {
	mu    sync.Mutex
	calls []moneymovement.CallMetrics
}

// operations are the names of the calls of a payment, as the network names their requests.
var operations = map[string]string{
	"BookPayout": "book payouts", "ConfirmPayout": "confirm", "GetPayout": "read payouts",
	"ListTransactions": "list transactions", "CreateEscrow": "book escrow", "PrepareEscrowAction": "prepare",
	"ConfirmEscrowAction": "confirm action", "SyncEscrow": "sync", "CreateTransfer": "transfer",
	"ListTransfers": "transfers",
}

// callsOf are the calls of one process. The end of each call is a step: calls that waited for the same login end at the
// same time, and what follows them changes what their process knows.
type callsOf struct {
	log     *callLog
	books   *Books
	process *Process

	mu     sync.Mutex
	counts map[string]int
}

// Call implements moneymovement.Metrics.
func (c *callsOf) Call(ctx context.Context, call moneymovement.CallMetrics) {
	c.log.mu.Lock()
	c.log.calls = append(c.log.calls, call)
	c.log.mu.Unlock()
	if operation, known := operations[call.Operation]; known {
		c.books.over(c.process, workOf(ctx), operation, call.Attempts)
	}
	name := labelOf(ctx) + " " + call.Operation
	switch call.Operation {
	case "CreateChallenge", "CreateToken", "RefreshToken":
		name = "session " + call.Operation
	}
	c.mu.Lock()
	c.counts[name]++
	name += " over " + strconv.Itoa(c.counts[name])
	c.mu.Unlock()
	c.process.Step(name, string(call.Result))
}
