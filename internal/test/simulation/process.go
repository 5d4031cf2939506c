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
	ctx       context.Context // the life of the process
	cancel    context.CancelFunc
	ended     bool // guarded by the scheduler's mu
	frozen    bool // its steps wait; guarded by the scheduler's mu
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

// freeze makes all steps of the process wait, as a machine does that is suspended.
func (p *Process) freeze(frozen bool) {
	p.scheduler.mu.Lock()
	defer p.scheduler.mu.Unlock()
	p.frozen = frozen
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

// work says what calls are for. Calls of one work are made one after the other.
type work struct {
	label    string
	attempts map[string]int // requests of the call that is under way, by operation; guarded by the books
}

type workKey struct{}

// withLabel begins a work. The names of its steps begin with the label.
func withLabel(ctx context.Context, label string) context.Context {
	return context.WithValue(ctx, workKey{}, &work{label, map[string]int{}})
}

func labelOf(ctx context.Context) string {
	if of := workOf(ctx); of != nil {
		return of.label
	}
	return ""
}

// workOf returns nil for a call that is for nothing in particular.
func workOf(ctx context.Context) *work {
	of, _ := ctx.Value(workKey{}).(*work)
	return of
}
