package moneymovementotel

import (
	"context"
	"errors"
	"net/url"
	"strconv"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	noopmetric "go.opentelemetry.io/otel/metric/noop"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"
	nooptrace "go.opentelemetry.io/otel/trace/noop"

	moneymovement "github.com/moneymovement/moneymovement-go"
)

// calls shows the calls of clients as spans and metrics.
type calls struct {
	spans            trace.Tracer
	attempts         metric.Int64Counter
	duration, queued metric.Float64Histogram
	active           metric.Int64UpDownCounter
}

// callSpan is the key under which the context of a call has its span: another observer may have put a span of its own
// into the context since.
type callSpan struct{}

// WithOpenTelemetry is the option of a client that makes a span of each call and counts calls, with the providers of
// your program. The package documentation lists both. Without a trace provider (nil) it makes no spans, and without a
// meter provider no metrics. It fails if the meter provider refuses an instrument.
func WithOpenTelemetry(traces trace.TracerProvider, meters metric.MeterProvider) (moneymovement.Option, error) {
	if traces == nil {
		traces = nooptrace.NewTracerProvider()
	}
	if meters == nil {
		meters = noopmetric.NewMeterProvider()
	}
	o := &calls{spans: spansOf(traces)}
	meter := meterOf(meters)
	var errs [4]error
	const name = "moneymovement.client."
	o.duration, errs[0] = meter.Float64Histogram(name+"call.duration", metric.WithUnit("s"),
		metric.WithDescription("Time that a call takes, with all its attempts."), waits)
	o.queued, errs[1] = meter.Float64Histogram(name+"call.queued", metric.WithUnit("s"),
		metric.WithDescription("Time that a call waits in line for room in a rate window."), waits)
	o.attempts, errs[2] = meter.Int64Counter(name+"attempts", metric.WithUnit("{request}"),
		metric.WithDescription("Requests that were sent."))
	o.active, errs[3] = meter.Int64UpDownCounter(name+"active_calls", metric.WithUnit("{call}"),
		metric.WithDescription("Calls under way in this process."))
	if err := errors.Join(errs[:]...); err != nil {
		return nil, err
	}
	return moneymovement.WithObserver(o), nil
}

func spansOf(provider trace.TracerProvider) trace.Tracer {
	return provider.Tracer(scope, trace.WithInstrumentationVersion(moneymovement.Version),
		trace.WithSchemaURL(semconv.SchemaURL))
}

func meterOf(provider metric.MeterProvider) metric.Meter {
	return provider.Meter(scope, metric.WithInstrumentationVersion(moneymovement.Version),
		metric.WithSchemaURL(semconv.SchemaURL))
}

// waits are boundaries in seconds, from a call on a fast network to a call that waits in line. The boundaries of
// OpenTelemetry are for milliseconds.
var waits = metric.WithExplicitBucketBoundaries(
	.01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600)

// prefix begins the names of attributes of calls for which OpenTelemetry has no name.
const prefix = "moneymovement."

func operation(call moneymovement.CallStart) attribute.KeyValue {
	return attribute.String(prefix+"operation", call.Operation)
}

// CallBegan implements moneymovement.Observer.
func (o *calls) CallBegan(ctx context.Context, call moneymovement.CallStart) context.Context {
	o.active.Add(ctx, 1, metric.WithAttributes(operation(call)))
	attributes := []attribute.KeyValue{
		operation(call), semconv.HTTPRequestMethodKey.String(call.Method), semconv.URLTemplate(call.URLTemplate),
	}
	if server, err := url.Parse(call.Server); err == nil {
		attributes = append(attributes, semconv.ServerAddress(server.Hostname()), semconv.ServerPort(portOf(server)))
	}
	attributes = withText(attributes, "account", call.Account)
	attributes = withText(attributes, "idempotency_key", string(call.IdempotencyKey))
	ctx, span := o.spans.Start(ctx, call.Method+" "+call.URLTemplate, trace.WithSpanKind(trace.SpanKindClient),
		trace.WithAttributes(attributes...))
	return context.WithValue(ctx, callSpan{}, span)
}

// AttemptEnded implements moneymovement.Observer.
func (o *calls) AttemptEnded(
	ctx context.Context, call moneymovement.CallStart, attempt moneymovement.CallAttempt,
) {
	attributes := []attribute.KeyValue{operation(call)}
	if attempt.Status != 0 {
		attributes = append(attributes, semconv.HTTPResponseStatusCode(attempt.Status))
	}
	if attempt.Failure != "" {
		attributes = append(attributes, semconv.ErrorTypeKey.String(string(attempt.Failure)))
	}
	o.attempts.Add(ctx, 1, metric.WithAttributes(attributes...))
	attributes = append(attributes[1:], attribute.Int(prefix+"attempt", attempt.Number),
		attribute.Float64(prefix+"attempt.duration", attempt.Took.Seconds()))
	attributes = withText(attributes, "request_id", attempt.RequestID)
	if attempt.RetryAfter > 0 {
		attributes = append(attributes, attribute.Float64(prefix+"retry_after", attempt.RetryAfter.Seconds()))
	}
	if attempt.Pause > 0 {
		attributes = append(attributes, attribute.Float64(prefix+"pause", attempt.Pause.Seconds()))
	}
	spanOf(ctx).AddEvent(prefix+"attempt", trace.WithAttributes(attributes...))
}

// CallEnded implements moneymovement.Observer.
func (o *calls) CallEnded(ctx context.Context, call moneymovement.CallStart, end moneymovement.CallEnd) {
	labels := []attribute.KeyValue{operation(call), attribute.String(prefix+"result", string(end.Result))}
	if code := end.Code; code != "" {
		if !code.Known() {
			code = "other" // a label must have few values, whatever the service sends
		}
		labels = withText(labels, "code", string(code))
	}
	o.active.Add(ctx, -1, metric.WithAttributes(operation(call)))
	o.duration.Record(ctx, end.Took.Seconds(), metric.WithAttributes(labels...))
	if end.Queued > 0 {
		o.queued.Record(ctx, end.Queued.Seconds(), metric.WithAttributes(operation(call)))
	}
	span := spanOf(ctx)
	defer span.End()
	attributes := []attribute.KeyValue{attribute.String(prefix+"result", string(end.Result)),
		attribute.Int(prefix+"attempts", end.Attempts)}
	attributes = withText(attributes, "code", string(end.Code))
	attributes = withText(attributes, "state", string(end.State))
	attributes = withText(attributes, "request_id", end.RequestID)
	if end.Status != 0 {
		attributes = append(attributes, semconv.HTTPResponseStatusCode(end.Status))
	}
	if end.Replayed {
		attributes = append(attributes, attribute.Bool(prefix+"replayed", true))
	}
	if end.Queued > 0 {
		attributes = append(attributes, attribute.Float64(prefix+"queued", end.Queued.Seconds()))
	}
	if end.Result != moneymovement.CallSucceeded {
		kind := string(end.Code)
		if kind == "" {
			kind = string(end.Result)
		}
		attributes = append(attributes, semconv.ErrorTypeKey.String(kind))
		span.SetStatus(codes.Error, end.Err.Error())
	}
	span.SetAttributes(attributes...)
}

// spanOf returns the span of a call.
func spanOf(ctx context.Context) trace.Span {
	if span, ok := ctx.Value(callSpan{}).(trace.Span); ok {
		return span
	}
	return trace.SpanFromContext(context.Background()) // which does nothing: an observer has dropped the context
}

// withText adds an attribute, unless it is empty.
func withText(to []attribute.KeyValue, name, value string) []attribute.KeyValue {
	if value == "" {
		return to
	}
	return append(to, attribute.String(prefix+name, value))
}

// portOf returns the port of the service, also if its address leaves it out.
func portOf(server *url.URL) int {
	if port, err := strconv.Atoi(server.Port()); err == nil {
		return port
	}
	if server.Scheme == "http" {
		return 80
	}
	return 443
}
