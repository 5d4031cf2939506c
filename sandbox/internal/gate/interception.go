package gate

import (
	"fmt"
	"hash/maphash"
	"maps"
	"net/http"
	"sync"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/fault"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
)

// Interception is a function that decides about a fault for each request, and the count of the faults that happened.
type Interception struct {
	decide func(Entry) (fault.Fault, bool)

	mu       sync.Mutex
	consumed map[fault.Kind]int
}

// Intercept calls decide for each request before the operation runs, without any lock. It replaces the function of the
// call before.
func (g *Gate) Intercept(decide func(Entry) (fault.Fault, bool)) *Interception {
	i := &Interception{decide: decide, consumed: map[fault.Kind]int{}}
	g.interception.Store(i)
	return i
}

// EndInterception ends an interception, if it has not been replaced.
func (g *Gate) EndInterception(i *Interception) { g.interception.CompareAndSwap(i, nil) }

// EndInterceptions ends the present interception.
func (g *Gate) EndInterceptions() { g.interception.Store(nil) }

// Consumed returns how many faults of each kind happened.
func (i *Interception) Consumed() map[fault.Kind]int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return maps.Clone(i.consumed)
}

// take asks for a fault. It panics if the fault is invalid, like arming it.
func (i *Interception) take(arrived Entry, possible func(fault.Fault) bool) (fault.Fault, bool) {
	f, ok := i.decide(arrived)
	if !ok {
		return fault.Fault{}, false
	}
	if err := f.Check(); err != nil {
		panic(fmt.Errorf("sandbox: Host.Intercept: %w", err))
	}
	if !possible(f) {
		return fault.Fault{}, false
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.consumed[f.Kind]++
	return f, true
}

// faultFor returns the fault of a request: that of the interception, or else the one that is armed. For
// [fault.MisroutedResponse] it also returns the response to send. Without such a response, the fault does not happen.
func (g *Gate) faultFor(c *call) (fault.Fault, *sentResponse) {
	c.entry.Attempt = g.attempts.count(c)
	var misrouted *sentResponse
	possible := func(f fault.Fault) bool {
		if f.Kind != fault.MisroutedResponse {
			return true
		}
		misrouted = g.sentResponses.misrouted(c, f.OtherAccount)
		return misrouted != nil
	}
	if i := g.interception.Load(); i != nil {
		arrived := c.entry
		arrived.Account = requestedAccount(c.request)
		if c.route != nil {
			arrived.Operation = c.route.operation
		}
		if f, ok := i.take(arrived, possible); ok {
			return f, misrouted
		}
	}
	f, _ := g.faults.Take(c.request.Method, c.request.URL.Path, possible)
	return f, misrouted
}

// requestedAccount returns the account that a request names.
func requestedAccount(r *http.Request) string {
	if account := r.Header.Get(serviceAccount); account != "" {
		return account
	}
	return wire.Self
}

// minCountedAttempts is how many different requests are counted at least.
const minCountedAttempts = 1 << 18

// attempts counts how often the same request arrived. It forgets requests that have not arrived for a long time. The
// zero attempts are ready.
type attempts struct {
	mu         sync.Mutex
	seed       maphash.Seed
	young, old map[uint64]int
}

// sameRequest is what a request and its next attempt have in common.
type sameRequest struct{ method, path, account, key string }

// count counts a request, and returns which attempt it is, from 1.
func (a *attempts) count(c *call) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.young == nil {
		a.seed, a.young = maphash.MakeSeed(), map[uint64]int{}
	}
	same := sameRequest{c.entry.Method, c.entry.Path, c.request.Header.Get(serviceAccount), c.entry.IdempotencyKey}
	at := maphash.Comparable(a.seed, same)
	if len(a.young) >= minCountedAttempts {
		a.young, a.old = map[uint64]int{}, a.young
	}
	count := max(a.young[at], a.old[at]) + 1
	a.young[at] = count
	return count
}

func (a *attempts) reset() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.young, a.old = nil, nil
}
