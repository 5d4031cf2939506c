package paymentsotel

import (
	"context"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
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
	return tracer{provider.Tracer(scope, trace.WithInstrumentationVersion(moneymovement.Version))}
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
