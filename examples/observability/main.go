// Observability follows a payment through logs and traces: go run ./examples/observability
//
// The SDK writes a record for each attempt to a slog.Logger, and sends through an http.Client of the caller's, whose
// transport is where OpenTelemetry hooks in as with any client. The records carry the trace they belong to. Neither
// holds a header, a body or a credential.
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
)

func main() { program.Main(run) }

func run(ctx context.Context, args []string, out io.Writer) error {
	p, err := program.Open("observability", args, out)
	if err != nil {
		return err
	}
	defer p.Close()

	spans := sdktrace.NewTracerProvider(sdktrace.WithSyncer(printer{out})) // yours has a batcher and an OTLP exporter
	defer spans.Shutdown(context.WithoutCancel(ctx))                       //nolint:errcheck // every span was printed when it ended
	logger := slog.New(traced{slog.NewTextHandler(out, &slog.HandlerOptions{Level: slog.LevelDebug})})

	platform, err := dapi.NewIntegrator(p.BaseURL, p.Developer(), moneymovement.WithLogger(logger),
		moneymovement.WithHTTPClient(&http.Client{
			Transport: otelhttp.NewTransport(&http.Transport{Proxy: http.ProxyFromEnvironment},
				otelhttp.WithTracerProvider(spans),
				otelhttp.WithSpanNameFormatter(func(_ string, r *http.Request) string {
					return r.Method + " " + route(r.URL.Path)
				}),
				// none: trace ids stay in the house
				otelhttp.WithPropagators(propagation.NewCompositeTextMapPropagator())),
		}))
	if err != nil {
		return err
	}
	account, err := customer.OpenWith(ctx, p, platform, decimal.NewFromInt(20), dapi.USDC)
	if err != nil {
		return err
	}
	supplier, err := account.Contacts.Create(ctx, dapi.ContactCreate{Name: "Example supplier",
		Account: dapi.SEPA(dapi.IBANAccount{IBAN: "DE89370400440532013000",
			Holder: dapi.AccountHolder{Name: "Example supplier"}})})
	if err != nil {
		return err
	}
	p.Step("paying invoice 42; what follows belongs to one trace")
	return pay(ctx, spans.Tracer("example"), logger, account, moneymovement.DeriveKey(p.Name, "invoice", "42"),
		dapi.PayoutCreate{ContactID: supplier.ID, Amount: decimal.RequireFromString("12.50"), Currency: dapi.USDC})
}

// pay is one unit of the program's own work: a span around the calls that it takes, with what to search by.
func pay(
	ctx context.Context, tracer trace.Tracer, logger *slog.Logger, account *dapi.Account, key moneymovement.Key,
	asked dapi.PayoutCreate,
) error {
	ctx, span := tracer.Start(ctx, "pay invoice",
		trace.WithAttributes(attribute.String("idempotency.key", string(key))))
	defer span.End()
	payout, err := account.Payouts.Pay(ctx, asked, key)
	if err != nil {
		span.RecordError(err)
		span.SetStatus(codes.Error, "not paid")
		logger.ErrorContext(ctx, "invoice is not paid", "error", err)
		return err
	}
	span.SetAttributes(attribute.String("payout.id", string(payout.ID)))
	logger.InfoContext(ctx, "invoice is paid", "payout", payout.ID, "status", payout.Status)
	return nil
}

// ids are the parts of a path that differ from call to call, which the names of spans must not.
var ids = regexp.MustCompile(`/[a-z]+_[^/]+`)

func route(path string) string { return ids.ReplaceAllString(path, "/{id}") }
