package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/examples/internal/program"
	"github.com/moneymovement/moneymovement-go/payments"
	"github.com/moneymovement/moneymovement-go/payments/postgres"
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

// The environment has the addresses, because other users of the machine can see arguments.
const (
	postgresVariable = "MONEYMOVEMENT_POSTGRES_URL"
	redisVariable    = "MONEYMOVEMENT_REDIS_URL"
)

// grace is the time that calls under way have to finish.
const grace = 20 * time.Second

// work is one worker. It pays until its input ends, which is also when the process ends that started it.
func work(ctx context.Context, args []string, out io.Writer) (err error) {
	var name string
	shared := fleetSettings{postgres: os.Getenv(postgresVariable), redis: os.Getenv(redisVariable)}
	p, err := program.Open("worker", args, io.Discard, func(flags *flag.FlagSet) {
		flags.StringVar(&name, "name", "", "`name` of the worker")
		flags.StringVar(&shared.schema, "schema", "", "`schema` of the tables")
		flags.DurationVar(&shared.minute, "minute", time.Minute, "how long a minute of the rate windows lasts")
	})
	if err != nil {
		return err
	}
	defer p.Close()
	f, err := shared.join(ctx, p)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.close()) }()
	processor, err := payments.New(f.store, payments.IntegratorServices(f.platform), payments.Config{
		Owner: name, InFlight: 16, // at most so many wait for the others if this worker dies
		Tracer: &teller{out: out},
	})
	if err != nil {
		return err
	}
	if _, err := processor.Resume(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop(ctx, processor.Stop)) }()

	jobs := river.NewWorkers()
	river.AddWorker(jobs, postgres.NewWorker(f.store, processor))
	client, err := river.NewClient(riverpgxv5.New(f.pool), &river.Config{Schema: shared.schema, Workers: jobs,
		Queues: map[string]river.QueueConfig{postgres.DefaultQueue: {MaxWorkers: 10}},
		Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	if err := client.Start(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop(ctx, client.Stop)) }()
	fmt.Fprintln(out, ready)
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

func stop(ctx context.Context, what func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	return what(ctx)
}

// The lines that a worker writes: it is ready, it begins to make a payment, it has ended a call for it in this state.
const (
	ready = "ready"
	began = "began"
	ended = "ended"
)

// teller writes a line when the worker begins to make a payment, and when it has made it. A backend would use a hook
// such as that of otel.
type teller struct {
	mu  sync.Mutex
	out io.Writer
}

// Submitted implements payments.Tracer.
func (*teller) Submitted(context.Context, moneymovement.Key) string { return "" }

// Step implements payments.Tracer.
func (t *teller) Step(
	ctx context.Context, _ string, step payments.StepTrace,
) (context.Context, func(payments.StepResult)) {
	if step.Step != "pay" {
		return ctx, func(payments.StepResult) {}
	}
	t.say(began, step.Key, moneymovement.PaymentPaying)
	return ctx, func(result payments.StepResult) { t.say(ended, step.Key, result.State) }
}

func (t *teller) say(what string, key moneymovement.Key, state moneymovement.PaymentState) {
	t.mu.Lock()
	defer t.mu.Unlock()
	fmt.Fprintln(t.out, what, key, state)
}
