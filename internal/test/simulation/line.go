package simulation

import (
	"context"
	"strconv"
	"sync"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
)

// line is a process's rate limiter. Joining the line is a step: the order of the line is the seed's.
type line struct {
	next    moneymovement.RateLimiter
	process *Process

	counts map[string]int
	mu     sync.Mutex
}

// Wait implements moneymovement.RateLimiter.
func (l *line) Wait(ctx context.Context, call moneymovement.RateCall) error {
	label := labelOf(ctx)
	if call.Class == moneymovement.ClassLogin || call.Class == moneymovement.ClassRefresh {
		label = "session"
	}
	name := label + " line " + string(call.Class) + " " + string(call.Window)
	l.mu.Lock()
	l.counts[name]++
	name += " " + strconv.Itoa(l.counts[name])
	l.mu.Unlock()
	l.process.Step(name, "")
	return l.next.Wait(ctx, call)
}

// random returns the random part of a pause. It depends on the time, which is another one for each step: a context does
// not say which call a login is for.
func (p *Process) random(seed Seed, below time.Duration) time.Duration {
	at := strconv.FormatInt(time.Now().UnixNano(), 10)
	return time.Duration(seed.Draw("pause", p.name, at).Int64N(int64(below)))
}
