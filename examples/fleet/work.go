package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
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
