// Observability pays once, and prints what OpenTelemetry has seen of it: go run ./examples/observability
//
// The client gets one option. The spans go to standard output. The metrics go to a page that Prometheus can read: the
// program prints it once, and does not serve it. With -base-url, -email and -key it pays on another sandbox host.
package main

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/shopspring/decimal"
	exporter "go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/exporters/stdout/stdouttrace"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/trace"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/examples/internal/program"
	moneymovementotel "github.com/moneymovement/moneymovement-go/otel"
)

func main() { program.Main(run) }

func run(ctx context.Context, args []string, out io.Writer) (err error) {
	p, err := program.Open("observability", args, out)
	if err != nil {
		return err
	}
	defer p.Close()

	registry := prometheus.NewRegistry()
	reader, err := exporter.New(exporter.WithRegisterer(registry))
	if err != nil {
		return err
	}
	meters := metric.NewMeterProvider(metric.WithReader(reader))
	page := promhttp.HandlerFor(registry, promhttp.HandlerOpts{}) // mount it at /metrics

	printer, err := stdouttrace.New(stdouttrace.WithWriter(out))
	if err != nil {
		return err
	}
	traces := trace.NewTracerProvider(trace.WithSyncer(printer))

	observed, err := moneymovementotel.WithOpenTelemetry(traces, meters)
	if err != nil {
		return err
	}
	platform, err := dapi.NewIntegrator(p.BaseURL, p.Developer(), append(p.Options(), observed)...)
	if err != nil {
		return err
	}
	if err := pay(ctx, p, platform); err != nil {
		return err
	}
	p.Step("the metrics of the calls, as Prometheus reads them:")
	scraped := httptest.NewRecorder()
	page.ServeHTTP(scraped, httptest.NewRequestWithContext(ctx, http.MethodGet, "/metrics", nil))
	for line := range strings.Lines(scraped.Body.String()) {
		if strings.HasPrefix(line, "moneymovement_") && !strings.Contains(line, "_bucket") {
			p.Detail("%s", strings.TrimSpace(line))
		}
	}
	return traces.Shutdown(ctx)
}

// pay makes one payment.
func pay(ctx context.Context, p *program.Program, platform *dapi.Integrator) error {
	account, err := p.OpenFunded(ctx, platform, decimal.NewFromInt(50), dapi.USDC)
	if err != nil {
		return err
	}
	contact, err := account.Contacts.Create(ctx, dapi.ContactCreate{Name: "Example wallet",
		Account: dapi.Onchain(dapi.OnchainAccount{WalletAddress: "0x1111111111111111111111111111111111111111",
			ChainID: "base", Currency: "USDC"})})
	if err != nil {
		return err
	}
	payment, err := account.Payouts.Pay(ctx, dapi.PayoutCreate{ContactID: contact.ID,
		Amount: decimal.RequireFromString("12.50"), Currency: dapi.USDC},
		moneymovement.DeriveKey(p.Name, "invoice", "42", "1"), dapi.PayTerms{})
	if err != nil {
		return err
	}
	p.Step("paid payout %s", payment.Payout.ID)
	return nil
}
