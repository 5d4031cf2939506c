package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"sync"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/examples/internal/program"
)

// worker is a worker process, as the process sees it that started it.
type worker struct {
	name    string
	process *exec.Cmd
	input   io.Closer
	isReady chan struct{}
	gone    chan struct{} // closed when its output has ended
	once    sync.Once

	mu     sync.Mutex
	making map[moneymovement.Key]bool
	paid   int
}

// startWorker starts this program again, as a worker.
func startWorker(ctx context.Context, p *program.Program, shared fleetSettings, name string) (*worker, error) {
	process, err := p.Again(ctx, "-name", name, "-schema", shared.schema, "-minute", shared.minute.String())
	if err != nil {
		return nil, err
	}
	process.Env = append(process.Env, postgresVariable+"="+shared.postgres, redisVariable+"="+shared.redis)
	w := &worker{name: name, process: process, isReady: make(chan struct{}), gone: make(chan struct{}),
		making: map[moneymovement.Key]bool{}}
	if w.input, err = process.StdinPipe(); err != nil {
		return nil, err
	}
	output, err := process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := process.Start(); err != nil {
		return nil, err
	}
	go w.listen(output)
	return w, nil
}

// listen reads the worker's lines until the worker has ended.
func (w *worker) listen(output io.Reader) {
	defer close(w.gone)
	for lines := bufio.NewScanner(output); lines.Scan(); {
		if lines.Text() == ready {
			close(w.isReady)
		}
		var what string
		var key moneymovement.Key
		var state moneymovement.PaymentState
		if n, err := fmt.Fscan(strings.NewReader(lines.Text()), &what, &key, &state); n < 3 || err != nil {
			continue
		}
		w.mu.Lock()
		switch what {
		case began:
			w.making[key] = true
		case ended:
			delete(w.making, key)
			if state == moneymovement.PaymentPaid || state == moneymovement.PaymentCompleted {
				w.paid++
			}
		}
		w.mu.Unlock()
	}
}

func (w *worker) awaitReady(ctx context.Context) error {
	select {
	case <-w.isReady:
		return nil
	case <-w.gone:
		return fmt.Errorf("%s ended before it was ready", w.name)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// kill ends the worker with SIGKILL, and returns the payments that it was making.
func (w *worker) kill() []moneymovement.Key {
	_ = w.process.Process.Kill()
	w.end()
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Sorted(maps.Keys(w.making))
}

// end lets the worker finish what is under way, and waits until it has ended. It does nothing to a worker that was
// killed.
func (w *worker) end() {
	w.once.Do(func() {
		_ = w.input.Close()
		<-w.gone
		_ = w.process.Wait() // its errors are on standard error
	})
}

// made returns how many payments the worker has made.
func (w *worker) made() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.paid
}
