// Package paymentsotel connects package payments with OpenTelemetry: a tracer that keeps the spans of a payment in one
// trace, over restarts and processes, and metrics.
//
//	tracer := paymentsotel.NewTracer(otel.GetTracerProvider())
//	metrics, err := paymentsotel.NewMetrics(otel.GetMeterProvider())
//	p, err := payments.New(store, services, payments.Config{Tracer: tracer, Metrics: metrics})
//
// # Spans
//
// Submit makes a span "payment submit", as a child of the span of its context. Each step makes a span "payment pay",
// "payment follow" or "payment search" in the same trace, also days later in another process. The spans have the
// attributes payment.key, payment.kind, payment.step, payment.state, payment.calls, payment.outcome and
// payment.reason. A span has the status error if its payment needs a decision, was refused or came back.
//
// # Metrics
//
//   - moneymovement.payments.changes: how many times a payment changed its state, by payment.kind, payment.from,
//     payment.state and payment.reason
//   - moneymovement.payments.age: seconds from Submit to the end of a payment, by payment.kind and payment.state
//   - moneymovement.payments.step.duration: seconds of a step, by payment.kind, payment.step and payment.outcome
//   - moneymovement.payments.step.queued: seconds in which a step waited for a rate window, by payment.kind
//   - moneymovement.payments.stored: how many payments are in each payment.state
//   - moneymovement.payments.in_flight and moneymovement.payments.following: steps that this process makes now
//   - moneymovement.payments.overdue: seconds since which the oldest work has been due
//   - moneymovement.payments.paused: seconds for which this process makes no calls
//
// No metric has the key or the account of a payment: they have too many values.
package paymentsotel
