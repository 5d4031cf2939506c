package payment

import "go.temporal.io/sdk/worker"

// paymentsPerMinute is how many payments the rate windows carry: 120 writes, two for each payment, in 61 seconds.
const paymentsPerMinute = 59

// WorkerOptions returns the options of one of n workers that share a developer key. Give each of their clients
// moneymovement.WithRateShare(n) as well.
//
// A worker starts at most as many calls as it can finish in a minute. More would only wait in the client's line, while
// their timeouts run. A worker that stops lets its calls end first: the grace period of your orchestrator must be
// longer than WorkerStopTimeout.
func WorkerOptions(n int) worker.Options {
	return worker.Options{
		MaxConcurrentActivityExecutionSize: max(1, paymentsPerMinute/max(1, n)),
		WorkerStopTimeout:                  payTimeout,
	}
}
