package telemetry_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	exporter "go.opentelemetry.io/otel/exporters/prometheus"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/moneymovement/moneymovement-go/payments"
)

var (
	listed   = regexp.MustCompile("(?m)^\\| `(moneymovement\\.(?:client|payments)\\.[a-z_.]+)` \\|")
	scraped  = regexp.MustCompile(`(?m)^# TYPE (moneymovement_[a-z_]+) (\w+)$`)
	inAlerts = regexp.MustCompile(`moneymovement_(?:client|payments)_[a-z_]+`)
)

// The metrics on the operations page are those that Prometheus scrapes, and no others, and its alerts name no others.
func TestPrometheusScrapesTheMetricsOfThePage(t *testing.T) {
	w, client, contact := newWorld(t)
	registry := prometheus.NewRegistry()
	reader, err := exporter.New(exporter.WithRegisterer(registry))
	require.NoError(t, err)
	program := &process{t: t, traces: sdktrace.NewTracerProvider(),
		meters: sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))}
	processor := program.processor(w, payments.NewMemoryStore())
	_, err = processor.Submit(t.Context(), payments.Payment{Key: "invoice-42", Account: client,
		Payout: payoutTo(contact, "12.50")})
	require.NoError(t, err)
	scrape := func() string {
		page := httptest.NewRecorder()
		promhttp.HandlerFor(registry, promhttp.HandlerOpts{}).ServeHTTP(page,
			httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
		return page.Body.String()
	}
	require.Eventually(t, func() bool { return strings.Contains(scrape(), "moneymovement_payments_paused_seconds") },
		10*time.Second, 10*time.Millisecond, "the processor reports its load")
	program.pays(processor, "invoice-42")

	text := scrape()
	samples, names := map[string]bool{}, []string{}
	for _, found := range scraped.FindAllStringSubmatch(text, -1) {
		name := found[1]
		samples[name] = found[2] != "histogram"
		if found[2] == "histogram" {
			samples[name+"_bucket"], samples[name+"_count"], samples[name+"_sum"] = true, true, true
		}
		names = append(names, strings.TrimSuffix(strings.TrimSuffix(name, "_total"), "_seconds"))
	}
	operations, err := os.ReadFile("../../../docs/operations.md")
	require.NoError(t, err)
	var documented []string
	for _, found := range listed.FindAllStringSubmatch(string(operations), -1) {
		documented = append(documented, strings.ReplaceAll(found[1], ".", "_"))
	}
	slices.Sort(names)
	slices.Sort(documented)
	assert.Equal(t, documented, names, text)
	alerts := inAlerts.FindAllString(string(operations), -1)
	require.NotEmpty(t, alerts)
	for _, name := range alerts {
		assert.True(t, samples[name], "an alert names %s, which is not scraped", name)
	}
}
