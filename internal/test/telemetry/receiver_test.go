package telemetry_test

import (
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	metricrequest "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	tracerequest "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	otlpmetric "go.opentelemetry.io/proto/otlp/metrics/v1"
	otlptrace "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	moneymovement "github.com/moneymovement/moneymovement-go"
	moneymovementotel "github.com/moneymovement/moneymovement-go/otel"
)

// receiver takes what exporters send over HTTP, as an OTLP collector does, and decodes it.
type receiver struct {
	t      *testing.T
	server *httptest.Server

	mu      sync.Mutex
	spans   []*otlptrace.Span
	metrics map[string]*otlpmetric.Metric // the last values, by name
}

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{t: t, metrics: map[string]*otlpmetric.Metric{}}
	routes := http.NewServeMux()
	routes.HandleFunc("POST /v1/traces", func(w http.ResponseWriter, req *http.Request) {
		var sent tracerequest.ExportTraceServiceRequest
		r.receive(w, req, &sent, &tracerequest.ExportTraceServiceResponse{})
		for _, resource := range sent.GetResourceSpans() {
			for _, scope := range resource.GetScopeSpans() {
				r.mu.Lock()
				r.spans = append(r.spans, scope.GetSpans()...)
				r.mu.Unlock()
			}
		}
	})
	routes.HandleFunc("POST /v1/metrics", func(w http.ResponseWriter, req *http.Request) {
		var sent metricrequest.ExportMetricsServiceRequest
		r.receive(w, req, &sent, &metricrequest.ExportMetricsServiceResponse{})
		for _, resource := range sent.GetResourceMetrics() {
			for _, scope := range resource.GetScopeMetrics() {
				r.mu.Lock()
				for _, metric := range scope.GetMetrics() {
					r.metrics[metric.GetName()] = metric
				}
				r.mu.Unlock()
			}
		}
	})
	r.server = httptest.NewServer(routes)
	t.Cleanup(r.server.Close)
	return r
}

// receive decodes a request, and responds as a collector does.
func (r *receiver) receive(w http.ResponseWriter, req *http.Request, into, answer proto.Message) {
	assert.Equal(r.t, "application/x-protobuf", req.Header.Get("Content-Type"))
	body, err := io.ReadAll(req.Body)
	assert.NoError(r.t, err)
	assert.NoError(r.t, proto.Unmarshal(body, into))
	encoded, err := proto.Marshal(answer)
	assert.NoError(r.t, err)
	w.Header().Set("Content-Type", "application/x-protobuf")
	_, err = w.Write(encoded)
	assert.NoError(r.t, err)
}

// process is the telemetry of one start of a program.
type process struct {
	t      *testing.T
	traces *sdktrace.TracerProvider
	meters *sdkmetric.MeterProvider
}

// process returns the telemetry of a new process, which sends to the receiver.
func (r *receiver) process() *process {
	r.t.Helper()
	ctx := r.t.Context()
	spans, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(r.server.URL+"/v1/traces"))
	require.NoError(r.t, err)
	values, err := otlpmetrichttp.New(ctx, otlpmetrichttp.WithEndpointURL(r.server.URL+"/v1/metrics"))
	require.NoError(r.t, err)
	p := &process{t: r.t, traces: sdktrace.NewTracerProvider(sdktrace.WithBatcher(spans)),
		meters: sdkmetric.NewMeterProvider(sdkmetric.WithReader(sdkmetric.NewPeriodicReader(values)))}
	return p
}

// option is the option of the clients of a process.
func (p *process) option() moneymovement.Option {
	p.t.Helper()
	option, err := moneymovementotel.WithOpenTelemetry(p.traces, p.meters)
	require.NoError(p.t, err)
	return option
}

// end sends what is left.
func (p *process) end() {
	p.t.Helper()
	require.NoError(p.t, p.traces.Shutdown(p.t.Context()))
	require.NoError(p.t, p.meters.Shutdown(p.t.Context()))
}

// named returns the spans with a name, in the order in which they ended.
func (r *receiver) named(name string) (found []*otlptrace.Span) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, span := range r.spans {
		if span.GetName() == name {
			found = append(found, span)
		}
	}
	return found
}

// one returns the only span with a name.
func (r *receiver) one(name string) *otlptrace.Span {
	r.t.Helper()
	found := r.named(name)
	require.Len(r.t, found, 1, name)
	return found[0]
}

// parentOf returns the span that a span is a child of, nil if the receiver has none.
func (r *receiver) parentOf(child *otlptrace.Span) *otlptrace.Span {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, span := range r.spans {
		if hex.EncodeToString(span.GetSpanId()) == hex.EncodeToString(child.GetParentSpanId()) {
			return span
		}
	}
	return nil
}

// valuesOf returns attributes as plain values.
func valuesOf(attributes []*common.KeyValue) map[string]any {
	values := map[string]any{}
	for _, attribute := range attributes {
		switch value := attribute.GetValue().GetValue().(type) {
		case *common.AnyValue_StringValue:
			values[attribute.GetKey()] = value.StringValue
		case *common.AnyValue_IntValue:
			values[attribute.GetKey()] = int(value.IntValue)
		case *common.AnyValue_DoubleValue:
			values[attribute.GetKey()] = value.DoubleValue
		case *common.AnyValue_BoolValue:
			values[attribute.GetKey()] = value.BoolValue
		}
	}
	return values
}

// point is one value of a metric: a sum, or how often a histogram was recorded.
type point struct {
	attributes map[string]any
	value      int
}

// points returns the values of a metric.
func (r *receiver) points(name string) (points []point) {
	r.t.Helper()
	r.mu.Lock()
	metric := r.metrics[name]
	r.mu.Unlock()
	require.NotNil(r.t, metric, "no metric %s", name)
	for _, sum := range metric.GetSum().GetDataPoints() {
		points = append(points, point{valuesOf(sum.GetAttributes()), int(sum.GetAsInt())})
	}
	for _, histogram := range metric.GetHistogram().GetDataPoints() {
		assert.Equal(r.t, "s", metric.GetUnit())
		count := int(histogram.GetCount()) //gosec:disable G115 -- a few
		points = append(points, point{valuesOf(histogram.GetAttributes()), count})
	}
	return points
}
