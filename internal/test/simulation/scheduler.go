// Package simulation runs payments in many ways that a seed chooses, and checks each run against the host's books.
//
// A run is a bubble of testing/synctest: its clock is virtual. synctest fixes the time of what happens, and not the
// order. So every request, response, store operation and signature stops at one [Scheduler], which lets one of them go
// on at a time. The seed decides which. The same seed is the same run, and [Trace] shows it, line by line.
//
// What else could differ between two runs comes from the seed as well: the host's random ids (testing/cryptotest), the
// pauses of the SDK, and every fault. A draw never depends on the order in which goroutines arrive: it is a hash of the
// seed and of the name of what it is for.
package simulation

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"testing/synctest"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
)

// Seed decides everything that is left to chance in a run.
type Seed uint64

// Draw returns a source of random numbers for one purpose. The same seed and the same parts give the same numbers, in
// whatever order the draws are made.
func (s Seed) Draw(parts ...string) *rand.Rand {
	sum := fnv.New128a()
	var number [8]byte
	binary.LittleEndian.PutUint64(number[:], uint64(s))
	sum.Write(number[:])
	for _, part := range parts {
		sum.Write([]byte(part))
		sum.Write([]byte{0})
	}
	digest := sum.Sum(nil)
	return rand.New(rand.NewPCG( //gosec:disable G404 -- a run must be repeatable
		binary.LittleEndian.Uint64(digest[:8]), binary.LittleEndian.Uint64(digest[8:])))
}

// between returns a random time from least to less than most.
func between(random *rand.Rand, least, most time.Duration) time.Duration {
	return least + time.Duration(random.Int64N(int64(most-least)))
}

// Trace has one line for each step of a run: its number, the time since the run began, its name, and what else is known
// about it. Two runs of one seed have the same bytes.
type Trace struct {
	text  bytes.Buffer
	steps int
}

// add appends a line.
func (t *Trace) add(since time.Duration, name, detail string) {
	t.steps++
	line := t.text.AvailableBuffer()
	line = strconv.AppendInt(line, int64(t.steps), 10)
	line = append(line, ' ')
	line = append(line, since.String()...)
	line = append(line, ' ')
	line = append(line, name...)
	if detail != "" {
		line = append(line, ' ')
		line = append(line, detail...)
	}
	t.text.Write(append(line, '\n'))
}

// Steps returns how many lines there are.
func (t *Trace) Steps() int { return t.steps }

// Bytes returns the lines. Do not change them.
func (t *Trace) Bytes() []byte { return t.text.Bytes() }

// WriteTo writes the trace to a file of its own in the folder, and returns the file's name.
func (t *Trace) WriteTo(folder, name string) (string, error) {
	file := filepath.Join(folder, name)
	return file, os.WriteFile(file, t.text.Bytes(), 0o600)
}

// Difference returns the first lines in which two traces differ, or "" twice.
func (t *Trace) Difference(other *Trace) (line, otherLine string) {
	lines, others := bytes.Split(t.Bytes(), []byte("\n")), bytes.Split(other.Bytes(), []byte("\n"))
	for i := range max(len(lines), len(others)) {
		one, two := lineAt(lines, i), lineAt(others, i)
		if one != two {
			return one, two
		}
	}
	return "", ""
}

func lineAt(lines [][]byte, i int) string {
	if i >= len(lines) {
		return "(the trace ends)"
	}
	return string(lines[i])
}

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
	crashes func(p *Process) bool
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
		crashes: func(*Process) bool { return false }, after: func() bool { return false },
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
		if p := next.process; p != nil && s.crashes(p) {
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
