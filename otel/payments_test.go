package moneymovementotel_test

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric/noop"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	moneymovement "github.com/moneymovement/moneymovement-go"
	moneymovementotel "github.com/moneymovement/moneymovement-go/otel"
	"github.com/moneymovement/moneymovement-go/payments"
)

// process is one start of a program: what it records is on its own.
func process() (payments.Tracer, *tracetest.SpanRecorder, trace.Tracer) {
	recorder := tracetest.NewSpanRecorder()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(recorder))
	return moneymovementotel.NewTracer(provider), recorder, provider.Tracer("the program")
}

func TestASpanOfALaterProcessIsInTheTraceOfItsPayment(t *testing.T) {
	first, submitted, program := process()
	ctx, request := program.Start(t.Context(), "request")
	stored := first.Submitted(ctx, "invoice-42")
	request.End()

	later, stepped, _ := process()
	called, end := later.Step(t.Context(), stored,
		payments.StepTrace{Key: "invoice-42", Kind: payments.KindPayout, Step: "pay", Calls: 1})
	assert.Equal(t, request.SpanContext().TraceID(), trace.SpanContextFromContext(called).TraceID())
	end(payments.StepResult{State: moneymovement.PaymentNeedsDecision, Outcome: moneymovement.PaymentNeedsDecision,
		Reason: &payments.Reason{Code: payments.ReasonPrice, Message: "the fee is too high"}})

	submit, step := submitted.Ended()[0], stepped.Ended()[0]
	assert.Equal(t, "payment submit", submit.Name())
	assert.Equal(t, request.SpanContext().SpanID(), submit.Parent().SpanID())
	assert.Equal(t, "payment pay", step.Name())
	assert.Equal(t, submit.SpanContext().SpanID(), step.Parent().SpanID())
	assert.Equal(t, sdktrace.Status{Code: codes.Error, Description: "the fee is too high"}, step.Status())
	values := map[string]string{}
	for _, attribute := range step.Attributes() {
		values[string(attribute.Key)] = attribute.Value.String()
	}
	assert.Equal(t, map[string]string{
		"payment.key": "invoice-42", "payment.kind": "payout", "payment.step": "pay", "payment.calls": "1",
		"payment.state": "needs_decision", "payment.outcome": "needs_decision", "payment.reason": "price",
	}, values)
}

// A payment that was submitted without a span has a trace of its own, and a damaged text costs only the trace.
func TestAPaymentWithoutASpanHasATraceOfItsOwn(t *testing.T) {
	tracer, recorder, _ := process()
	stored := tracer.Submitted(t.Context(), "k")
	for _, text := range []string{stored, stored, "", "not a trace", "00-00000000000000000000000000000000-0-01 a=b"} {
		_, end := tracer.Step(t.Context(), text, payments.StepTrace{Key: "k", Step: "pay"})
		end(payments.StepResult{State: moneymovement.PaymentCompleted})
	}
	spans := recorder.Ended()
	require.Len(t, spans, 6)
	own := spans[0].SpanContext().TraceID()
	assert.Equal(t, own, spans[1].SpanContext().TraceID())
	assert.Equal(t, own, spans[2].SpanContext().TraceID())
	for _, other := range spans[3:] {
		assert.NotEqual(t, own, other.SpanContext().TraceID())
		assert.Equal(t, codes.Unset, other.Status().Code)
	}
}

func TestMetrics(t *testing.T) {
	reader := sdkmetric.NewManualReader()
	metrics, err := moneymovementotel.NewMetrics(sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)))
	require.NoError(t, err)
	ctx := t.Context()
	metrics.Changed(ctx, payments.ChangeMetrics{Kind: payments.KindPayout, Account: "cl_1",
		To: moneymovement.PaymentAccepted})
	metrics.Changed(ctx, payments.ChangeMetrics{Kind: payments.KindPayout, From: moneymovement.PaymentPaid,
		To: moneymovement.PaymentCompleted, Age: 90 * time.Second})
	metrics.Stepped(ctx, payments.StepMetrics{Kind: payments.KindPayout, Step: "pay",
		Outcome: moneymovement.PaymentPaid,
		Took:    2 * time.Second, Queued: time.Second})
	metrics.Stepped(ctx, payments.StepMetrics{Kind: payments.KindPayout, Step: "follow",
		Outcome: moneymovement.PaymentCompleted})
	metrics.Load(ctx, payments.LoadMetrics{InFlight: 7, Following: 3,
		ByState: map[moneymovement.PaymentState]int{moneymovement.PaymentPaid: 5},
		Overdue: 4 * time.Second, PausedFor: time.Minute})
	metrics.Load(ctx, payments.LoadMetrics{InFlight: 6,
		ByState: map[moneymovement.PaymentState]int{moneymovement.PaymentCompleted: 5}})
	for _, failures := range []int64{8, 9} { // the store is away
		metrics.Load(ctx, payments.LoadMetrics{InFlight: 6, Waiting: 2, Late: 1, StoreFailures: failures})
	}

	var read metricdata.ResourceMetrics
	require.NoError(t, reader.Collect(context.WithoutCancel(ctx), &read))
	require.Len(t, read.ScopeMetrics, 1)
	page, err := os.ReadFile("../docs/operations.md")
	require.NoError(t, err)
	counts, sums, kinds := map[string]int64{}, map[string]float64{}, map[string]metricdata.Aggregation{}
	for _, m := range read.ScopeMetrics[0].Metrics {
		kinds[m.Name] = m.Data
		assert.Contains(t, string(page), "\n| `"+m.Name+"` |", "name it in docs/operations.md, with its alert")
		switch data := m.Data.(type) {
		case metricdata.Sum[int64]:
			for _, point := range data.DataPoints {
				counts[m.Name] += point.Value
				assert.False(t, point.Attributes.HasValue("payment.key"))
			}
			assert.True(t, data.IsMonotonic, m.Name)
		case metricdata.Gauge[int64]:
			for _, point := range data.DataPoints {
				state, _ := point.Attributes.Value("payment.state")
				counts[m.Name+state.AsString()] += point.Value
			}
		case metricdata.Gauge[float64]:
			sums[m.Name] = data.DataPoints[0].Value
		case metricdata.Histogram[float64]:
			for _, point := range data.DataPoints {
				counts[m.Name] += int64(point.Count) //gosec:disable G115 -- a few
				sums[m.Name] += point.Sum
			}
		}
	}
	const name = "moneymovement.payments."
	assert.IsType(t, metricdata.Sum[int64]{}, kinds[name+"store.failures"], "Prometheus takes a rate of it")
	assert.Equal(t, len(read.ScopeMetrics[0].Metrics), strings.Count(string(page), "\n| `"+name))
	assert.Equal(t, map[string]int64{
		name + "changes": 2, name + "age": 1, name + "step.duration": 2, name + "step.queued": 1,
		name + "storedaccepted": 0, name + "storedpaying": 0, name + "storedin_doubt": 0, name + "storedpaid": 0,
		name + "storedneeds_decision": 0, name + "storedcompleted": 5, name + "storedrefused": 0,
		name + "storedcame_back": 0, name + "in_flight": 6, name + "following": 0, name + "waiting": 2,
		name + "late": 1, name + "store.failures": 9,
	}, counts)
	assert.Equal(t, map[string]float64{
		name + "age": 90, name + "step.duration": 2, name + "step.queued": 1, name + "overdue": 0, name + "paused": 0,
	}, sums)
}

func TestMetricsWithoutAProvider(t *testing.T) {
	metrics, err := moneymovementotel.NewMetrics(noop.NewMeterProvider())
	require.NoError(t, err)
	metrics.Load(t.Context(), payments.LoadMetrics{})
}
