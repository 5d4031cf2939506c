package telemetry_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/trace"
	otlptrace "go.opentelemetry.io/proto/otlp/trace/v1"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/test/worlds"
	"github.com/moneymovement/moneymovement-go/internal/testkit"
	moneymovementotel "github.com/moneymovement/moneymovement-go/otel"
	"github.com/moneymovement/moneymovement-go/payments"
	"github.com/moneymovement/moneymovement-go/payments/postgres"
	"github.com/moneymovement/moneymovement-go/payments/sqlite"
)

// processor returns a processor of a process on a store.
func (p *process) processor(w *worlds.World, store payments.Store) *payments.Processor {
	p.t.Helper()
	metrics, err := moneymovementotel.NewMetrics(p.meters)
	require.NoError(p.t, err)
	processor, err := payments.New(store, payments.IntegratorServices(w.Integrator(w.Developer(), p.option())),
		payments.Config{Tracer: moneymovementotel.NewTracer(p.traces), Metrics: metrics,
			LoadEvery: 10 * time.Millisecond})
	require.NoError(p.t, err)
	return processor
}

// pays resumes a processor until a payment has arrived.
func (p *process) pays(processor *payments.Processor, key moneymovement.Key) {
	p.t.Helper()
	_, err := processor.Resume(p.t.Context())
	require.NoError(p.t, err)
	record, err := processor.Await(p.t.Context(), key, moneymovement.PaymentCompleted,
		moneymovement.PaymentNeedsDecision, moneymovement.PaymentRefused)
	require.NoError(p.t, err)
	require.Equal(p.t, moneymovement.PaymentCompleted, record.State, "%+v", record.Reason)
	require.NoError(p.t, processor.Stop(p.t.Context()))
}

// inProgram runs a part of the program inside a span.
func (p *process) inProgram(does func(ctx context.Context)) trace.SpanContext {
	ctx, span := p.traces.Tracer("the program").Start(p.t.Context(), "the request")
	defer span.End()
	does(ctx)
	return span.SpanContext()
}

// assertOneTrace checks that the spans of a payment hold together: the submission is inside the request of the program,
// each step belongs to the submission, and each call to a step or to another call.
func (r *receiver) assertOneTrace(request trace.SpanContext) {
	r.t.Helper()
	submit := r.one("payment submit")
	id := request.SpanID()
	assert.Equal(r.t, id[:], submit.GetParentSpanId())
	steps := append(r.named("payment pay"), r.named("payment follow")...)
	require.NotEmpty(r.t, steps)
	for _, step := range steps {
		assert.Equal(r.t, submit.GetSpanId(), step.GetParentSpanId(), step.GetName())
	}
	traceID := request.TraceID()
	for _, span := range r.spans {
		assert.Equal(r.t, traceID[:], span.GetTraceId(), span.GetName())
	}
	for _, call := range []string{"POST " + payoutsPath, "POST " + payoutsPath + "/{payoutId}/confirm"} {
		parent := r.parentOf(r.one(call))
		require.NotNil(r.t, parent, call)
		assert.Equal(r.t, "payment pay", parent.GetName())
	}
	for _, span := range r.spans {
		if span.GetKind() == otlptrace.Span_SPAN_KIND_CLIENT {
			assert.NotNil(r.t, r.parentOf(span), "%s has no parent", span.GetName())
		}
	}
}

// The process that took the payment ends before it pays. Another one pays days later, with telemetry of its own.
func TestPaymentsTraceGoesOnAfterARestart(t *testing.T) {
	w, client, contact := newWorld(t)
	collector := newReceiver(t)
	file := filepath.Join(t.TempDir(), "payments.db")
	payment := payments.Payment{Key: "invoice-42", Account: client, Payout: payoutTo(contact, "12.50")}

	store, err := sqlite.Open(t.Context(), file)
	require.NoError(t, err)
	first := collector.process()
	processor := first.processor(w, store)
	request := first.inProgram(func(ctx context.Context) {
		_, err := processor.Submit(ctx, payment)
		require.NoError(t, err)
	})
	require.NoError(t, processor.Stop(t.Context()))
	require.NoError(t, store.Close())
	first.end()
	require.Empty(t, collector.named("payment pay"))

	store, err = sqlite.Open(t.Context(), file)
	require.NoError(t, err)
	second := collector.process()
	second.pays(second.processor(w, store), payment.Key)
	require.NoError(t, store.Close())
	second.end()
	collector.assertOneTrace(request)
	assert.NotEmpty(t, collector.points("moneymovement.payments.changes"))
}

// A payment that a transaction of PostgreSQL submits has the trace of that transaction.
func TestPaymentsTraceBeginsInATransaction(t *testing.T) {
	server := testkit.PostgreSQL(t)
	w, client, contact := newWorld(t)
	collector := newReceiver(t)
	payment := payments.Payment{Key: "invoice-42", Account: client, Payout: payoutTo(contact, "12.50")}
	pool, err := pgxpool.New(t.Context(), server.URL())
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	require.NoError(t, postgres.Migrate(t.Context(), pool, ""))

	first := collector.process()
	store, err := postgres.Open(t.Context(), pool, postgres.Options{})
	require.NoError(t, err)
	submits := first.processor(w, store)
	request := first.inProgram(func(ctx context.Context) {
		require.NoError(t, pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
			_, err := store.SubmitTx(ctx, tx, submits, payment)
			return err
		}))
	})
	require.NoError(t, submits.Stop(t.Context()))
	first.end()

	second := collector.process()
	store, err = postgres.Open(t.Context(), pool, postgres.Options{})
	require.NoError(t, err)
	second.pays(second.processor(w, store), payment.Key)
	second.end()
	collector.assertOneTrace(request)
}
