package moneymovementotel_test

import (
	"context"
	"fmt"
	"log"

	"github.com/shopspring/decimal"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/moneymovement/moneymovement-go/dapi"
	moneymovementotel "github.com/moneymovement/moneymovement-go/otel"
	"github.com/moneymovement/moneymovement-go/payments"
	"github.com/moneymovement/moneymovement-go/signing"
)

// The providers are those of your program. This one records the spans in memory.
func Example() {
	ctx := context.Background()
	recorder := tracetest.NewSpanRecorder()
	traces := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(recorder))
	meters := sdkmetric.NewMeterProvider()
	store := payments.NewMemoryStore()
	key, err := signing.Generate()
	if err != nil {
		log.Fatal(err)
	}
	platform, err := dapi.NewIntegrator("https://host.example", dapi.Developer{Email: "ops@example.com", Key: key})
	if err != nil {
		log.Fatal(err)
	}
	metrics, err := moneymovementotel.NewMetrics(meters)
	if err != nil {
		log.Fatal(err)
	}
	processor, err := payments.New(store, payments.IntegratorServices(platform),
		payments.Config{Tracer: moneymovementotel.NewTracer(traces), Metrics: metrics})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := processor.Submit(ctx, payments.Payment{Key: "invoice-42", Account: "cl_8fK2",
		Payout: dapi.PayoutCreate{ContactID: "ct_3dR9", Amount: decimal.NewFromInt(12), Currency: dapi.USDC},
	}); err != nil {
		log.Fatal(err)
	}
	for _, span := range recorder.Ended() {
		fmt.Println(span.Name(), span.Attributes()[0].Value.AsString())
	}
	// Output: payment submit invoice-42
}
