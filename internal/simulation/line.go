package simulation

import (
	"context"
	"strconv"
	"sync"
	"time"

	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// line is a process's rate limiter. Joining the line is a step: the order of the line is the seed's.
type line struct {
	next    transport.Limiter
	process *Process

	counts map[string]int
	mu     sync.Mutex
}

// Wait implements transport.Limiter.
func (l *line) Wait(ctx context.Context, call transport.RateCall) error {
	label := labelOf(ctx)
	if call.Class == transport.ClassLogin || call.Class == transport.ClassRefresh {
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
