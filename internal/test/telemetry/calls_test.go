package telemetry_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
	otlptrace "go.opentelemetry.io/proto/otlp/trace/v1"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/internal/test/worlds"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

// payoutsPath is the path of payouts in a span.
const payoutsPath = "/dapi/v1/payouts"

// newWorld returns a host on a port, the account of a client with money, and a contact of it. Nothing of this is
// traced.
func newWorld(t *testing.T) (*worlds.World, dapi.ClientID, dapi.ContactID) {
	t.Helper()
	w := worlds.Serve(t, sandbox.WithInstantProgress(),
		sandbox.WithSettings(func(s *sandbox.Settings) { s.MaxCredit = decimal.NewFromInt(1000) }))
	platform := w.Integrator(w.Developer())
	client, err := platform.Clients.Create(t.Context(),
		dapi.ClientCreate{Email: "acme@example.com", EntityName: "Acme"})
	require.NoError(t, err)
	account := platform.For(client.ID)
	w.Credit(account.Sandbox, "1000", dapi.USDC)
	return w, client.ID, w.Contact(account.Contacts, worlds.Wallet())
}

func payoutTo(contact dapi.ContactID, amount string) dapi.PayoutCreate {
	return dapi.PayoutCreate{ContactID: contact, Amount: decimal.RequireFromString(amount), Currency: dapi.USDC}
}

// A payment in which a booking got a 429 and the response to the confirm was lost arrives at a collector, with all
// that an engineer on call asks.
func TestACollectorGetsTheCallsOfAPayment(t *testing.T) {
	w, client, contact := newWorld(t)
	collector := newReceiver(t)
	program := collector.process()
	// The spans of otelhttp and the records of the log are inside those of the calls.
	var log spanLog
	platform := w.Integrator(w.Developer(), program.option(), moneymovement.WithLogger(slog.New(&log)),
		moneymovement.WithTransport(func(next http.RoundTripper) http.RoundTripper {
			return otelhttp.NewTransport(next, otelhttp.WithTracerProvider(program.traces),
				otelhttp.WithMeterProvider(program.meters), otelhttp.WithPropagators(propagation.TraceContext{}))
		}))
	w.Host.Arm(http.MethodPost, "/payouts", sandbox.Respond(http.StatusTooManyRequests, "rate_limited"))
	w.Host.Arm(http.MethodPost, "/payouts/{payoutId}/confirm", sandbox.DropAfterCommit())

	ctx, request := program.traces.Tracer("the program").Start(t.Context(), "the request")
	payment, err := platform.For(client).Payouts.Pay(ctx, payoutTo(contact, "12.50"), "invoice-42", dapi.PayTerms{})
	require.NoError(t, err)
	_, err = platform.For(client).Payouts.Get(ctx, "po_unknown")
	require.Error(t, err)
	_, err = platform.For(client).Payouts.Pay(ctx, payoutTo(contact, "-1"), "invoice-43", dapi.PayTerms{})
	require.Error(t, err)
	request.End()
	program.end()

	booked := collector.named("POST " + payoutsPath)
	require.Len(t, booked, 2, "the payment, and the one that was refused")
	root := collector.one("the request")
	for _, span := range booked {
		assert.Equal(t, root.GetSpanId(), span.GetParentSpanId())
	}
	book := valuesOf(booked[0].GetAttributes())
	assert.Contains(t, book, "moneymovement.request_id")
	for _, differs := range []string{"moneymovement.request_id", "moneymovement.queued", "server.port"} {
		delete(book, differs)
	}
	assert.Equal(t, map[string]any{
		"moneymovement.operation": "BookPayout", "http.request.method": "POST", "url.template": payoutsPath,
		"http.response.status_code": 201, "server.address": "127.0.0.1", "moneymovement.account": string(client),
		"moneymovement.idempotency_key": "invoice-42", "moneymovement.attempts": 2, "moneymovement.result": "succeeded",
	}, book)
	assert.Equal(t, otlptrace.Span_SPAN_KIND_CLIENT, booked[0].GetKind())
	require.Len(t, booked[0].GetEvents(), 2)
	for i, status := range []int{429, 201} {
		event := booked[0].GetEvents()[i]
		assert.Equal(t, "moneymovement.attempt", event.GetName())
		values := valuesOf(event.GetAttributes())
		assert.Equal(t, i+1, values["moneymovement.attempt"])
		assert.Equal(t, status, values["http.response.status_code"])
		assert.Equal(t, i == 0, values["moneymovement.pause"] != nil)
		assert.Contains(t, values, "moneymovement.request_id")
	}

	refused := booked[1]
	assert.Equal(t, otlptrace.Status_STATUS_CODE_ERROR, refused.GetStatus().GetCode())
	assert.Equal(t, "invalid", valuesOf(refused.GetAttributes())["error.type"])
	assert.Empty(t, refused.GetEvents(), "nothing was sent")

	confirm := collector.one("POST " + payoutsPath + "/{payoutId}/confirm")
	values := valuesOf(confirm.GetAttributes())
	assert.Contains(t, []any{"paid", "completed"}, values["moneymovement.state"])
	require.Len(t, confirm.GetEvents(), 2)
	assert.Equal(t, "lost", valuesOf(confirm.GetEvents()[0].GetAttributes())["error.type"])

	reads := collector.named("GET " + payoutsPath + "/{payoutId}")
	missing := reads[len(reads)-1]
	assert.Equal(t, otlptrace.Status_STATUS_CODE_ERROR, missing.GetStatus().GetCode())
	values = valuesOf(missing.GetAttributes())
	assert.Equal(t, "not_found", values["moneymovement.code"])
	assert.Equal(t, "not_found", values["error.type"])
	assert.Equal(t, "refused", values["moneymovement.result"])

	login := collector.one("POST /dapi/v1/auth/token")
	assert.Equal(t, root.GetTraceId(), login.GetTraceId())
	assert.Equal(t, booked[0].GetSpanId(), login.GetParentSpanId(), "the booking has logged in")

	attempts := 0
	for _, sent := range collector.named("HTTP POST") {
		if parent := collector.parentOf(sent); parent != nil && parent.GetName() == "POST "+payoutsPath {
			attempts++
		}
	}
	assert.Equal(t, 2, attempts, "spans of otelhttp inside that of the booking")
	assert.True(t, log.inside(booked[0]), "records of the booking have its span")

	for _, span := range collector.spans {
		template, _ := valuesOf(span.GetAttributes())["url.template"].(string)
		assert.NotContains(t, span.GetName()+template, string(payment.Payout.ID))
	}
	calls := collector.points("moneymovement.client.call.duration")
	assert.Contains(t, calls, point{map[string]any{"moneymovement.operation": "BookPayout",
		"moneymovement.result": "succeeded"}, 1})
	assert.Contains(t, calls, point{map[string]any{"moneymovement.operation": "BookPayout",
		"moneymovement.result": "invalid"}, 1})
	assert.Contains(t, calls, point{map[string]any{"moneymovement.operation": "GetPayout",
		"moneymovement.result": "refused", "moneymovement.code": "not_found"}, 1})
	tried := collector.points("moneymovement.client.attempts")
	assert.Contains(t, tried, point{map[string]any{"moneymovement.operation": "BookPayout",
		"http.response.status_code": 429}, 1})
	assert.Contains(t, tried, point{map[string]any{"moneymovement.operation": "ConfirmPayout",
		"error.type": "lost"}, 1})
	for _, active := range collector.points("moneymovement.client.active_calls") {
		assert.Zero(t, active.value, active.attributes)
	}
	for name := range collector.metrics {
		if strings.HasPrefix(name, "moneymovement.") {
			for _, p := range collector.points(name) {
				assert.NotContains(t, p.attributes, "moneymovement.account")
				assert.NotContains(t, p.attributes, "moneymovement.idempotency_key")
			}
		}
	}
}

// spanLog is a handler of slog that keeps the span of each record.
type spanLog struct{ ids []trace.SpanID }

func (*spanLog) Enabled(context.Context, slog.Level) bool { return true }

func (l *spanLog) Handle(ctx context.Context, _ slog.Record) error {
	l.ids = append(l.ids, trace.SpanContextFromContext(ctx).SpanID())
	return nil
}

func (l *spanLog) WithAttrs([]slog.Attr) slog.Handler { return l }

func (l *spanLog) WithGroup(string) slog.Handler { return l }

// inside reports a record that was written inside a span.
func (l *spanLog) inside(span *otlptrace.Span) bool {
	for _, id := range l.ids {
		if bytes.Equal(id[:], span.GetSpanId()) {
			return true
		}
	}
	return false
}
