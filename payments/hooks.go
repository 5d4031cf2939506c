package payments

import (
	"context"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
)

// Metrics receives what a processor counts. Its methods must be fast and safe for concurrent use, and must not panic:
// as in your own goroutines, a panic ends the process. Module otel has one for OpenTelemetry.
type Metrics interface {
	// Changed is called after a payment's state was stored, and after the first time.
	Changed(ctx context.Context, change ChangeMetrics)
	// Stepped is called after each step: a call that pays, a look, a search.
	Stepped(ctx context.Context, step StepMetrics)
	// Load is called every Config.LoadEvery from [New] to [Processor.Stop], also if the processor is not resumed.
	Load(ctx context.Context, load LoadMetrics)
}

// ChangeMetrics describes a change of state. The names are few: use them as labels. Account has as many values as you
// have clients.
type ChangeMetrics struct {
	Kind     Kind
	Account  dapi.ClientID
	From, To moneymovement.PaymentState // From is empty for a new payment
	Reason   ReasonCode                 // empty without a reason
	Age      time.Duration              // since the payment was accepted
}

// StepMetrics describes one step.
type StepMetrics struct {
	Kind    Kind
	Step    string                     // pay, follow or search
	Outcome moneymovement.PaymentState // what the step has shown; not_paid if nothing was paid, and nothing has ended
	Took    time.Duration              // the whole step
	Queued  time.Duration              // the part of its last call that waited for room in a rate window
}

// LoadMetrics describes what a processor has to do.
type LoadMetrics struct {
	InFlight  int           // calls that pay, under way in this process
	Waiting   int           // those of them that wait for room in a rate window, for more than a few seconds
	Following int           // looks under way in this process
	Overdue   time.Duration // for how long the oldest work has been due; zero if that cannot be read now
	Late      int           // payments of this process that are not made in time: see Policy.Late
	PausedFor time.Duration // for how long an API gets no calls, because it said so or refuses the credential
	// ByState is how many payments of the whole store are in each state; nil if that cannot be counted now.
	ByState map[moneymovement.PaymentState]int
	// StoreFailures is how many calls of the store have failed in this process. It only rises.
	StoreFailures int64
}

// Tracer keeps the spans of a payment together, over restarts and processes. Module otel has one for
// OpenTelemetry.
type Tracer interface {
	// Submitted returns what identifies the trace of the submitting context, as text that is stored with the payment,
	// such as a W3C traceparent. Empty means that there is no trace.
	Submitted(ctx context.Context, key moneymovement.Key) string
	// Step begins a span for a step of a payment with this stored text. The returned context is that of the step's
	// calls. end is called when the step has ended.
	Step(ctx context.Context, trace string, step StepTrace) (stepped context.Context, end func(StepResult))
}

// StepTrace describes a step that begins.
type StepTrace struct {
	Key   moneymovement.Key
	Kind  Kind
	State moneymovement.PaymentState
	Step  string // pay, follow or search
	Calls int    // the calls that were begun before
}

// StepResult describes a step that has ended.
type StepResult struct {
	State   moneymovement.PaymentState
	Outcome moneymovement.PaymentState // as in StepMetrics
	Reason  *Reason                    // nil if there is nothing to say
}

// noMetrics and noTracer stand in for hooks that are not set.
type noMetrics struct{}

// Changed implements [Metrics].
func (noMetrics) Changed(context.Context, ChangeMetrics) {}

// Stepped implements [Metrics].
func (noMetrics) Stepped(context.Context, StepMetrics) {}

// Load implements [Metrics].
func (noMetrics) Load(context.Context, LoadMetrics) {}

type noTracer struct{}

// Submitted implements [Tracer].
func (noTracer) Submitted(context.Context, moneymovement.Key) string { return "" }

// Step implements [Tracer].
func (noTracer) Step(ctx context.Context, _ string, _ StepTrace) (context.Context, func(StepResult)) {
	return ctx, func(StepResult) {}
}
