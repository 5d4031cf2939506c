// Observability follows a payment through logs, traces and metrics: go run ./examples/observability
//
// The SDK writes a log record for each attempt of a call (WithLogger) and reports each call (WithMetrics).
// OpenTelemetry hooks in around its transport (WithTransport), and so sees each attempt. The log records have the id of
// the trace that they belong to. No record contains a header, a body or a credential.
//
// At the end the program prints what each line and field means, and which of them to alert on. legend.go has the text.
package main

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"regexp"

	"github.com/shopspring/decimal"
	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/examples/internal/customer"
	"github.com/moneymovement/moneymovement-go/examples/internal/program"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

func main() { program.Main(run) }

func run(ctx context.Context, args []string, out io.Writer) error {
	p, err := program.Open("observability", args, out)
	if err != nil {
		return err
	}
	defer p.Close()
	client, supplier, err := prepare(ctx, p)
	if err != nil {
		return err
	}

	// a backend has a batcher and an OTLP exporter
	spans := sdktrace.NewTracerProvider(sdktrace.WithSyncer(printer{out}))
	defer spans.Shutdown(context.WithoutCancel(ctx)) //nolint:errcheck // every span was printed when it ended
	logger := slog.New(traced{slog.NewTextHandler(out, &slog.HandlerOptions{Level: slog.LevelDebug})})
	platform, err := dapi.NewIntegrator(p.BaseURL, p.Developer(),
		moneymovement.WithLogger(logger),
		moneymovement.WithMetrics(metrics{out}),
		moneymovement.WithTransport(func(next http.RoundTripper) http.RoundTripper {
			return otelhttp.NewTransport(next,
				otelhttp.WithTracerProvider(spans),
				otelhttp.WithSpanNameFormatter(func(_ string, r *http.Request) string {
					return r.Method + " " + route(r.URL.Path)
				}),
				// no propagator: the ids of your traces stay with you
				otelhttp.WithPropagators(propagation.NewCompositeTextMapPropagator()))
		}))
	if err != nil {
		return err
	}
	if p.Host != nil {
		p.Host.Arm(http.MethodPost, "/dapi/v1/payouts/{payoutId}/confirm",
			sandbox.Respond(http.StatusBadGateway, "provider_unavailable"))
		p.Step("the host will fail the first confirm with 502, so that you see a warning and a second attempt")
	}
	p.Step("paying invoice 42; all lines that follow belong to one trace")
	err = pay(ctx, spans.Tracer("example"), logger, platform.For(client),
		moneymovement.DeriveKey(p.Name, "invoice", "42", "1"),
		dapi.PayoutCreate{ContactID: supplier, Amount: decimal.RequireFromString("12.50"), Currency: dapi.USDC})
	if err != nil {
		return err
	}
	return explain(p.Narrator)
}

// prepare makes a client with money, and a contact. It uses a client of the SDK that logs nothing.
func prepare(ctx context.Context, p *program.Program) (dapi.ClientID, dapi.ContactID, error) {
	platform, err := dapi.NewIntegrator(p.BaseURL, p.Developer(), p.Options()...)
	if err != nil {
		return "", "", err
	}
	account, err := customer.OpenWith(ctx, p, platform, decimal.NewFromInt(20), dapi.USDC)
	if err != nil {
		return "", "", err
	}
	client, err := customer.Client(ctx, p, platform)
	if err != nil {
		return "", "", err
	}
	supplier, err := account.Contacts.Create(ctx, dapi.ContactCreate{Name: "Example supplier",
		Account: dapi.SEPA(dapi.IBANAccount{IBAN: "DE89370400440532013000",
			Holder: dapi.AccountHolder{Name: "Example supplier"}})})
	if err != nil {
		return "", "", err
	}
	return client.ID, supplier.ID, nil
}

// pay is one unit of work of your program: a span around its calls, with the ids that you search by.
func pay(
	ctx context.Context, tracer trace.Tracer, logger *slog.Logger, account *dapi.Account, key moneymovement.Key,
	asked dapi.PayoutCreate,
) error {
	ctx, span := tracer.Start(ctx, "pay invoice",
		trace.WithAttributes(attribute.String("idempotency.key", string(key))))
	defer span.End()
	var stored dapi.History // your program stores it in its database
	payment, err := account.Payouts.Pay(ctx, asked, key,
		dapi.PayTerms{Bounds: dapi.Bounds{MaxFee: new(decimal.NewFromInt(1))}, History: stored,
			Journal: func(_ context.Context, history dapi.History) error { stored = history; return nil }})
	state, payout := payment.State, payment.Payout
	span.SetAttributes(attribute.String("payment.state", string(state)))
	if payout != nil {
		span.SetAttributes(attribute.String("payout.id", string(payout.ID)))
	}
	if err != nil {
		span.RecordError(err)
		span.SetStatus(codes.Error, "invoice is "+string(state))
		logger.ErrorContext(ctx, "invoice is not settled", "state", state, "error", err)
		return err
	}
	logger.InfoContext(ctx, "invoice is paid", "payout", payout.ID, "status", payout.Status)
	return nil
}

// ids are the parts of a path that differ from call to call. The names of spans must not have them.
var ids = regexp.MustCompile(`/[a-z]+_[^/]+`)

func route(path string) string { return ids.ReplaceAllString(path, "/{id}") }
