package moneymovementotel

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/payments"
)

// scope names the instrumentation.
const scope = "github.com/moneymovement/moneymovement-go/otel"

type tracer struct{ spans trace.Tracer }

// NewTracer returns a tracer that makes its spans with a provider.
func NewTracer(provider trace.TracerProvider) payments.Tracer {
	return tracer{spansOf(provider)}
}

// The names under which the W3C format carries a trace.
const (
	parentField = "traceparent"
	stateField  = "tracestate"
)

// Submitted implements payments.Tracer. The text is the traceparent and, after a space, the tracestate if there is one.
func (t tracer) Submitted(ctx context.Context, key moneymovement.Key) string {
	ctx, span := t.spans.Start(ctx, "payment submit", trace.WithSpanKind(trace.SpanKindProducer),
		trace.WithAttributes(attribute.String("payment.key", string(key))))
	defer span.End()
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, carrier)
	return strings.TrimSpace(carrier[parentField] + " " + carrier[stateField])
}

// Step implements payments.Tracer.
func (t tracer) Step(
	ctx context.Context, stored string, step payments.StepTrace,
) (stepped context.Context, end func(payments.StepResult)) {
	parent, state, _ := strings.Cut(stored, " ")
	ctx = propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{parentField: parent, stateField: state})
	ctx, span := t.spans.Start(ctx, "payment "+step.Step, trace.WithSpanKind(trace.SpanKindConsumer),
		trace.WithAttributes(
			attribute.String("payment.key", string(step.Key)), attribute.String("payment.kind", string(step.Kind)),
			attribute.String("payment.step", step.Step), attribute.Int("payment.calls", step.Calls)))
	return ctx, func(result payments.StepResult) {
		span.SetAttributes(attribute.String("payment.state", string(result.State)),
			attribute.String("payment.outcome", string(result.Outcome)))
		message := ""
		if result.Reason != nil {
			message = result.Reason.Message
			span.SetAttributes(attribute.String("payment.reason", string(result.Reason.Code)))
		}
		switch result.State {
		case moneymovement.PaymentNeedsDecision, moneymovement.PaymentRefused, moneymovement.PaymentCameBack:
			span.SetStatus(codes.Error, message)
		}
		span.End()
	}
}

// metrics records what a processor counts.
type metrics struct {
	changes                     metric.Int64Counter
	age, took, queued           metric.Float64Histogram
	stored, inFlight, following metric.Int64Gauge
	waiting, late               metric.Int64Gauge
	overdue, paused             metric.Float64Gauge
	failures                    atomic.Int64 // which the provider reads
}

// NewMetrics returns metrics of one processor that are recorded with a provider. It fails if the provider refuses an
// instrument.
func NewMetrics(provider metric.MeterProvider) (payments.Metrics, error) {
	meter := meterOf(provider)
	var m metrics
	var errs [12]error
	const name = "moneymovement.payments."
	m.changes, errs[0] = meter.Int64Counter(name+"changes", metric.WithUnit("{change}"),
		metric.WithDescription("Changes of the state of payments."))
	m.age, errs[1] = meter.Float64Histogram(name+"age", metric.WithUnit("s"),
		metric.WithDescription("Time from the submission to the end of a payment."),
		metric.WithExplicitBucketBoundaries(1, 5, 15, 60, 300, 900, 3600, 4*3600, 86400, 3*86400, 7*86400))
	m.took, errs[2] = meter.Float64Histogram(name+"step.duration", metric.WithUnit("s"),
		metric.WithDescription("Time that a step takes."), waits)
	m.queued, errs[3] = meter.Float64Histogram(name+"step.queued", metric.WithUnit("s"),
		metric.WithDescription("Time that a step waits for room in a rate window."), waits)
	m.stored, errs[4] = meter.Int64Gauge(name+"stored", metric.WithUnit("{payment}"),
		metric.WithDescription("Payments in the store."))
	m.inFlight, errs[5] = meter.Int64Gauge(name+"in_flight", metric.WithUnit("{step}"),
		metric.WithDescription("Calls that pay, under way in this process."))
	m.following, errs[6] = meter.Int64Gauge(name+"following", metric.WithUnit("{step}"),
		metric.WithDescription("Looks at paid payments, under way in this process."))
	m.overdue, errs[7] = meter.Float64Gauge(name+"overdue", metric.WithUnit("s"),
		metric.WithDescription("Time for which the oldest work has been due."))
	m.paused, errs[8] = meter.Float64Gauge(name+"paused", metric.WithUnit("s"),
		metric.WithDescription("Time for which this process makes no calls, because the service said so."))
	m.waiting, errs[9] = meter.Int64Gauge(name+"waiting", metric.WithUnit("{step}"),
		metric.WithDescription("Calls that pay, waiting for room in a rate window."))
	m.late, errs[10] = meter.Int64Gauge(name+"late", metric.WithUnit("{payment}"),
		metric.WithDescription("Payments of this process that are not made in time."))
	_, errs[11] = meter.Int64ObservableCounter(name+"store.failures", metric.WithUnit("{call}"),
		metric.WithDescription("Calls of the store that have failed in this process."),
		metric.WithInt64Callback(func(_ context.Context, observer metric.Int64Observer) error {
			observer.Observe(m.failures.Load())
			return nil
		}))
	if err := errors.Join(errs[:]...); err != nil {
		return nil, err
	}
	return &m, nil
}

func text(name, value string) attribute.KeyValue { return attribute.String("payment."+name, value) }

// Changed implements payments.Metrics.
func (m *metrics) Changed(ctx context.Context, change payments.ChangeMetrics) {
	kind, to := text("kind", string(change.Kind)), text("state", string(change.To))
	m.changes.Add(ctx, 1, metric.WithAttributes(kind, text("from", string(change.From)), to,
		text("reason", string(change.Reason))))
	if change.To.Final() {
		m.age.Record(ctx, change.Age.Seconds(), metric.WithAttributes(kind, to))
	}
}

// Stepped implements payments.Metrics.
func (m *metrics) Stepped(ctx context.Context, step payments.StepMetrics) {
	kind := text("kind", string(step.Kind))
	m.took.Record(ctx, step.Took.Seconds(), metric.WithAttributes(kind, text("step", step.Step),
		text("outcome", string(step.Outcome))))
	if step.Queued > 0 {
		m.queued.Record(ctx, step.Queued.Seconds(), metric.WithAttributes(kind))
	}
}

// Load implements payments.Metrics.
func (m *metrics) Load(ctx context.Context, load payments.LoadMetrics) {
	if load.ByState != nil {
		for _, state := range moneymovement.StoredPaymentStates() { // also 0, or an empty state would keep its last one
			m.stored.Record(ctx, int64(load.ByState[state]), metric.WithAttributes(text("state", string(state))))
		}
		m.overdue.Record(ctx, load.Overdue.Seconds())
	}
	m.waiting.Record(ctx, int64(load.Waiting))
	m.late.Record(ctx, int64(load.Late))
	m.failures.Store(load.StoreFailures)
	m.inFlight.Record(ctx, int64(load.InFlight))
	m.following.Record(ctx, int64(load.Following))
	m.paused.Record(ctx, load.PausedFor.Seconds())
}
