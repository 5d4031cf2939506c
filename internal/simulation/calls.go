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

// callsOf are the calls of one process. The end of each call is a step: calls that waited for the same login end at the
// same time, and what follows them changes what their process knows.
type callsOf struct {
	log     *callLog
	process *Process

	mu     sync.Mutex
	counts map[string]int
}

// Call implements moneymovement.Metrics.
func (c *callsOf) Call(ctx context.Context, call moneymovement.CallMetrics) {
	c.log.mu.Lock()
	c.log.calls = append(c.log.calls, call)
	c.log.mu.Unlock()
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
