package control

import (
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/app"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

// mostLines is how many lines wait for a terminal that takes none.
const mostLines = 10_000

// drainTime is how long close waits for a terminal that takes nothing.
const drainTime = time.Second

// lineWriter writes lines in their order, and makes nobody wait: a terminal can be slow, or stopped by a key. It leaves
// lines out if too many wait, and says so.
type lineWriter struct {
	out  io.Writer
	done chan struct{}

	mu      sync.Mutex
	changed *sync.Cond
	lines   []string
	missed  int
	closed  bool
}

func newLineWriter(out io.Writer) *lineWriter {
	w := &lineWriter{out: out, done: make(chan struct{})}
	w.changed = sync.NewCond(&w.mu)
	go w.run()
	return w
}

// Write takes the text of a log, a line at a time.
func (w *lineWriter) Write(text []byte) (int, error) {
	w.add(string(text))
	return len(text), nil
}

// add takes a line, with its end.
func (w *lineWriter) add(line string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.closed:
		return
	case len(w.lines) >= mostLines:
		w.missed++
		return
	case w.missed > 0:
		w.lines = append(w.lines, missedLine(w.missed))
		w.missed = 0
	}
	w.lines = append(w.lines, line)
	w.changed.Signal()
}

func missedLine(count int) string {
	return fmt.Sprintf("moneymove: %d lines are left out here, because nobody read them in time\n", count)
}

// run writes the lines until close. An error of the terminal ends nothing: the host goes on.
func (w *lineWriter) run() {
	defer close(w.done)
	for {
		waiting, last := w.take()
		for _, line := range waiting {
			_, _ = io.WriteString(w.out, line)
		}
		if last {
			return
		}
	}
}

// take waits for lines, and returns them. last reports that there will be no more.
func (w *lineWriter) take() (waiting []string, last bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.lines) == 0 && !w.closed {
		w.changed.Wait()
	}
	waiting = w.lines
	if w.missed > 0 {
		waiting = append(slices.Clip(waiting), missedLine(w.missed))
	}
	w.lines, w.missed = nil, 0
	return waiting, w.closed
}

// close writes what waits, if the terminal takes it.
func (w *lineWriter) close() {
	w.mu.Lock()
	w.closed = true
	w.changed.Signal()
	w.mu.Unlock()
	select {
	case <-w.done:
	case <-time.After(drainTime):
	}
}

// requestLog writes a line for each request that callers make. It is silent until begin, so that what -seed calls is
// not among them.
type requestLog struct {
	lines *lineWriter
	style LineStyle
	begun atomic.Bool
	quiet bool
}

func newRequestLog(a *app.App, o options) *requestLog {
	w, colors := a.Painted(true)
	return &requestLog{lines: newLineWriter(w), quiet: o.quiet,
		style: LineStyle{Verbose: o.verbose, Colors: colors}}
}

func (l *requestLog) begin() { l.begun.Store(true) }

func (l *requestLog) observe(r sandbox.Request) {
	if !l.quiet && l.begun.Load() {
		l.lines.add(l.style.Line(entryOf(r)) + "\n")
	}
}

func (l *requestLog) close() { l.lines.close() }

// entryOf returns a request as its line shows it.
func entryOf(r sandbox.Request) RequestLine {
	return RequestLine{
		ID: int64(r.ID), Time: r.Time, Method: r.Method, Path: r.Path, Status: r.Status, Slug: r.Slug,
		Account: r.Account, IdempotencyKey: r.IdempotencyKey, Replayed: r.Replayed, Repeated: r.Repeated,
		Fault: r.Fault,
	}
}
