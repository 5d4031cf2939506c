package simulation

import (
	"context"
	"runtime"
	"sync"
)

// Process is a process of the program under test: goroutines that end together. When it ends, none of them gets past
// another step.
type Process struct {
	name      string
	number    int // from 1, in the order of their starts
	place     int // of the processes that run at the same time
	scheduler *Scheduler
	ctx       context.Context //nolint:containedctx // the life of the process
	cancel    context.CancelFunc
	ended     bool // guarded by the scheduler's mu
	work      sync.WaitGroup
}

func newProcess(name string, s *Scheduler) *Process {
	ctx, cancel := context.WithCancel(context.Background())
	return &Process{name: name, scheduler: s, ctx: ctx, cancel: cancel}
}

// Step waits for the turn of a step. If the process has ended, Step ends the goroutine, and does not return.
func (p *Process) Step(name, detail string) {
	if !p.reaches(name, detail) {
		runtime.Goexit()
	}
}

// reaches is Step for a caller that still has something to do if the process has ended. It must then call
// runtime.Goexit.
func (p *Process) reaches(name, detail string) bool {
	return p.scheduler.wait(p, p.name+" "+name, detail)
}

// Go starts a goroutine of the process.
func (p *Process) Go(f func(ctx context.Context)) { p.work.Go(func() { f(p.ctx) }) }

// end ends the process, as a kill does: its goroutines end at their next step, and nothing more of it is stored, sent
// or signed.
func (p *Process) end() {
	p.scheduler.mu.Lock()
	p.ended = true
	p.scheduler.mu.Unlock()
	p.scheduler.abandon(p)
	p.cancel()
}

// alive reports that the process has begun and has not ended.
func (p *Process) alive() bool {
	if p == nil {
		return false
	}
	p.scheduler.mu.Lock()
	defer p.scheduler.mu.Unlock()
	return !p.ended
}

// labelled is the key of a label in a context.
type labelled struct{}

// withLabel names what a call is for. The names of the call's steps begin with it.
func withLabel(ctx context.Context, label string) context.Context {
	return context.WithValue(ctx, labelled{}, label)
}

func labelOf(ctx context.Context) string {
	label, _ := ctx.Value(labelled{}).(string)
	return label
}
