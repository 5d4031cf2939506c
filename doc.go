// Package moneymovement is the root of a Go SDK for a money-movement service: accounts for businesses and individuals, virtual
// accounts on bank rails, payouts to banks and wallets, payins, contacts, invoices, contracts, cards and on-chain escrow.
//
// # Surfaces
//
// Each surface of the service has a package of its own, with a credential of its own that works on no other:
//
//   - dapi, the platform API: a developer key logs in and signs what moves money.
//   - appapi, the app API: an app key acts for the account that owns the app.
//   - refapi, the reference endpoints: an access token, and a receiver of partners' webhooks.
//   - public, the public utilities: no credential.
//
// This package holds what they share: the options of a client ([Option]) and of one call ([CallOption]), and the resources that more than one
// surface answers, such as [Invoice], [Contract] and [Card].
//
// # Errors
//
// The error of a call is one of the types of package errors, which says for each whether to try again and whether money moved. A write
// whose answer was lost is never reported as a failure: it is *errors.OutcomeUnknown. What only a flow of several calls can end in, such as
// an approval that was not signed, has a type of its own beside the flow.
//
// # Retries
//
// A call is sent again, at most [RetryPolicy].Max times, with a random, doubling backoff or after the service's Retry-After:
//
//   - after 429, always;
//   - after 408, 502, 503, 504 and after a lost or truncated answer, if the call is a read, or a write that cannot happen twice because
//     its idempotency key or a natural key anchors it;
//   - after 500, if the call is a read;
//   - when no connection could be made.
//
// Each write carries an idempotency key, the caller's ([IdempotencyKey]) or a fresh one, which is the same on every attempt. A
// Retry-After that does not fit into the context's deadline, or is longer than [RetryPolicy].WaitMax, is not waited for: the refusal is
// returned at once and says in RetryAt when to try again. All calls of a client draw their retries from one budget, so that an outage is not multiplied.
//
// # Deadlines
//
// The deadline of a call is its context's, and covers retries and pauses. Without one, a call gives up on an answer that has not begun after
// 30 seconds, and waits on for one that has begun and stalls; [WithHTTPClient] with a Timeout bounds each attempt.
//
// # Rate windows
//
// A client paces itself inside the stated windows of its surface; see [WithRateLimiter] and [WithoutPacing].
//
// # Go releases
//
// The two newest releases of Go are supported, now 1.26 and 1.27, and behave alike.
//
// # Amounts
//
// Amounts are decimal.Decimal, never floating point, in units of their currency or token.
package moneymovement
