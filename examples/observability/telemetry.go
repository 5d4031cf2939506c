package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	moneymovement "github.com/moneymovement/moneymovement-go"
)

// traced adds to each record the id of the trace that its context belongs to.
type traced struct{ slog.Handler }

// Handle implements [slog.Handler].
func (t traced) Handle(ctx context.Context, record slog.Record) error {
	if at := trace.SpanContextFromContext(ctx); at.IsValid() {
		record = record.Clone()
		record.AddAttrs(slog.String("trace", at.TraceID().String()))
	}
	return t.Handler.Handle(ctx, record)
}

// WithAttrs implements [slog.Handler].
func (t traced) WithAttrs(attrs []slog.Attr) slog.Handler { return traced{t.Handler.WithAttrs(attrs)} }

// WithGroup implements [slog.Handler].
func (t traced) WithGroup(name string) slog.Handler { return traced{t.Handler.WithGroup(name)} }

// metrics writes a line for each call. A backend counts and times them: Operation, Result and Code are fit for labels.
type metrics struct{ out io.Writer }

// Call implements [moneymovement.Metrics].
func (m metrics) Call(ctx context.Context, call moneymovement.CallMetrics) {
	fmt.Fprintf(m.out, "call=%s result=%s code=%q attempts=%d took=%s trace=%s\n", call.Operation, call.Result,
		call.Code,
		call.Attempts, call.Took.Round(time.Microsecond), trace.SpanContextFromContext(ctx).TraceID())
}

// printer writes a line for each span that ends.
type printer struct{ out io.Writer }

// ExportSpans implements [sdktrace.SpanExporter].
func (p printer) ExportSpans(_ context.Context, spans []sdktrace.ReadOnlySpan) error {
	for _, span := range spans {
		fmt.Fprintf(p.out, "span=%q took=%s trace=%s", span.Name(), span.EndTime().Sub(span.StartTime()).
			Round(time.Microsecond), span.SpanContext().TraceID())
		for _, attribute := range span.Attributes() {
			switch attribute.Key {
			case "http.response.status_code", "http.request.resend_count", "idempotency.key", "payout.id",
				"payment.state":
				fmt.Fprintf(p.out, " %s=%s", attribute.Key, attribute.Value.String())
			}
		}
		fmt.Fprintln(p.out)
	}
	return nil
}

// Shutdown implements [sdktrace.SpanExporter].
func (p printer) Shutdown(context.Context) error { return nil }
