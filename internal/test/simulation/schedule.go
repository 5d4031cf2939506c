package simulation

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing/synctest"
	"time"
)

// Scheduler lets one step of a run go on at a time. A goroutine that reaches a step waits there. When every goroutine
// of the bubble waits for something, the scheduler picks one of the waiting steps, writes it to the trace, and lets it
// go on. When no step waits, time goes on to the next timer. Timers that are due at the same time wake their goroutines
// in an order that nobody decides. But the next step of each of them stops here, so that the seed decides again.
//
// This holds if two goroutines that run at the same time change nothing in common before their next steps. So whoever
// uses the scheduler puts a step before each change of something shared: the rate windows, the store, the host. And no
// step may wait while its goroutine holds a mutex.
type Scheduler struct {
	random *rand.Rand
	trace  *Trace
	began  time.Time
	// crashes decides, before a step goes on, whether its process ends instead.
	crashes func(p *Process, name string) bool
	// after is called after each step, when nothing runs. It returns true if it has changed anything.
	after func() bool

	mu      sync.Mutex
	waiting []*waiter
	came    chan struct{} // has an element after a step has come
}

// waiter is a step that waits for its turn.
type waiter struct {
	process *Process // nil for what is not in a process
	name    string
	detail  string
	turn    chan bool // false if the process has ended
}

// NewScheduler returns a scheduler for one run. Call it in the run's bubble.
func NewScheduler(seed Seed) *Scheduler {
	return &Scheduler{
		random: seed.Draw("scheduler"), trace: new(Trace), began: time.Now(), came: make(chan struct{}, 1),
		crashes: func(*Process, string) bool { return false }, after: func() bool { return false },
	}
}

// Trace returns what has happened so far. Read it when no other goroutine of the run is left.
func (s *Scheduler) Trace() *Trace { return s.trace }

// Step waits for the turn of a step that belongs to no process. No two steps that wait at the same time may have the
// same name. The detail is written to the trace, and decides nothing.
func (s *Scheduler) Step(name, detail string) { s.wait(nil, name, detail) }

// wait returns false if the process has ended before the step's turn.
func (s *Scheduler) wait(p *Process, name, detail string) bool {
	w := &waiter{process: p, name: name, detail: detail, turn: make(chan bool, 1)}
	s.mu.Lock()
	if p != nil && p.ended {
		s.mu.Unlock()
		return false
	}
	s.waiting = append(s.waiting, w)
	s.mu.Unlock()
	select {
	case s.came <- struct{}{}:
	default:
	}
	return <-w.turn
}

// stuckAfter is how long a run may be without any step. No program here pauses for so long.
const stuckAfter = 400 * 24 * time.Hour

// Run lets steps go on until done is closed and no step waits. Call it in the first goroutine of the bubble.
func (s *Scheduler) Run(done <-chan struct{}) error {
	watchdog := time.NewTimer(stuckAfter)
	defer watchdog.Stop()
	for {
		synctest.Wait()
		if s.after() {
			continue
		}
		next, err := s.next()
		if err != nil {
			return err
		}
		if next == nil {
			watchdog.Reset(stuckAfter)
			select {
			case <-s.came:
				continue
			case <-done:
				return nil
			case <-watchdog.C:
				return fmt.Errorf("no step came for %v; the run is stuck after %d steps", stuckAfter, s.trace.steps)
			}
		}
		if p := next.process; p != nil && s.crashes(p, next.name) {
			s.trace.add(time.Since(s.began), p.name+" crashes before: "+next.name, next.detail)
			p.end()
			next.turn <- false
		} else {
			s.trace.add(time.Since(s.began), next.name, next.detail)
			next.turn <- true
		}
		s.pass()
	}
}

// next takes a step out of those that wait, or returns nil if none may go on.
func (s *Scheduler) next() (*waiter, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.waiting) == 0 {
		return nil, nil
	}
	slices.SortFunc(s.waiting, func(a, b *waiter) int { return cmp.Compare(a.name, b.name) })
	for i, w := range s.waiting[1:] {
		if w.name == s.waiting[i].name {
			return nil, fmt.Errorf("two steps with the name %q wait: nobody decides between them", w.name)
		}
	}
	ready := make([]int, 0, len(s.waiting))
	for i, w := range s.waiting {
		if w.process == nil || !w.process.frozen {
			ready = append(ready, i)
		}
	}
	if len(ready) == 0 {
		return nil, nil
	}
	at := ready[s.random.IntN(len(ready))]
	next := s.waiting[at]
	s.waiting = slices.Delete(s.waiting, at, at+1)
	return next, nil
}

// longestStep is how long a step takes at most.
const longestStep = 2 * time.Millisecond

// pass lets a little time go by after a step: no two steps happen at the same time, so that no two timers that they
// start are due at the same time.
func (s *Scheduler) pass() { <-time.After(time.Duration(1 + s.random.Int64N(int64(longestStep)))) }

// abandon ends the waiting steps of a process that has ended.
func (s *Scheduler) abandon(p *Process) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting = slices.DeleteFunc(s.waiting, func(w *waiter) bool {
		if w.process == p {
			w.turn <- false
		}
		return w.process == p
	})
}
