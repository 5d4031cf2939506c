// Package moneymovementotel shows calls and payments in OpenTelemetry: a span of each call, the spans of a payment in
// one trace, over restarts and processes, and metrics of both.
//
//	observed, err := moneymovementotel.WithOpenTelemetry(otel.GetTracerProvider(), otel.GetMeterProvider())
//	platform, err := dapi.NewIntegrator(baseURL, developer, observed)
//
//	tracer := moneymovementotel.NewTracer(otel.GetTracerProvider())
//	metrics, err := moneymovementotel.NewMetrics(otel.GetMeterProvider())
//	p, err := payments.New(store, services, payments.Config{Tracer: tracer, Metrics: metrics})
//
// It needs no exporter and no SDK of OpenTelemetry: those are of your program.
//
// # Spans of calls
//
// A call is a span of kind client, such as "POST /dapi/v1/payouts", with http.request.method, url.template,
// http.response.status_code, server.address, server.port and error.type as the conventions of OpenTelemetry have them,
// and moneymovement.operation, .account, .idempotency_key, .attempts, .result, .code, .state, .request_id, .queued
// (seconds) and .replayed. Those without a value are left out. It has the status error, with the text of the error, if
// the result is not "succeeded". Each request is an event moneymovement.attempt with its number, status or failure
// (error.type), request id, and seconds: .attempt.duration, .retry_after as the service asked, and .pause before the
// next request.
//
// The address with its ids is in no span. A login inside a call is a child of its span, and so are the spans of
// otelhttp, if you wrap the transport with moneymovement.WithTransport. otelhttp also sends traceparent to the service;
// this package sends nothing.
//
// # Spans of payments
//
// Submit makes a span "payment submit", as a child of the span of its context, and so does SubmitTx of a PostgreSQL
// store, with the tracer of the processor that it gets. Each step makes a span "payment pay", "payment follow" or
// "payment search" in the same trace, also days later in another process. The calls of the step are its children. The
// spans have the attributes payment.key, payment.kind, payment.step, payment.state, payment.calls, payment.outcome and
// payment.reason. A span has the status error if its payment needs a decision, was refused or came back.
//
// # Metrics
//
// The page docs/operations.md of the repository has a table of all metrics, with their attributes and alerts. They
// begin with moneymovement.client. for calls and with moneymovement.payments. for payments, and these names stay. No
// metric has the key or the account of a payment: they have too many values.
package moneymovementotel
