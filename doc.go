// Package moneymovement is the root of a Go SDK for a money-movement service: accounts for businesses and individuals,
// virtual accounts on bank rails, payouts to banks and wallets, payins, contacts, invoices, contracts, cards and
// on-chain escrow.
//
// # Packages
//
// The service has four parts, called surfaces. Each has its own package and credential:
//
//   - dapi: the platform API. A developer key logs in, and signs each payment.
//   - appapi: the app API. An app key acts for the account that owns the app.
//   - refapi: the reference endpoints. An access token authenticates each call.
//   - public: the public utilities. They need no credential.
//
// Package model has the resources that several surfaces return, such as invoices, contracts and cards. Package errors
// has the errors, and package signing has developer keys. Package sandbox, in its own module, is a host for tests.
//
// This package has what all surfaces share:
//
//   - [Option] sets up a client, [CallOption] and [WriteOption] set up a call;
//   - [Key] is an idempotency key, and [DeriveKey] makes one;
//   - [PaymentState] is the one word for what is known about a payment;
//   - [Secret] holds a text that must not appear in logs;
//   - [RateLimiter] and [Metrics] are interfaces that you can implement.
//
// The [glossary] explains the words of the service, such as rail, requisites and payin. The [error page] says what to
// do about each error, and the [production guide] how to run payments. The [pages for tasks] show one flow each.
//
// # Errors
//
// Every error of a call is a type of package errors. The type says whether the call can be repeated and whether money
// moved. A write whose response was lost is never reported as failed: its error is *errors.InDoubt. Methods that
// make several calls can also fail with errors of their own package, such as *dapi.PriceRefused.
//
// # Retries
//
// A failed call is sent again up to [RetryPolicy].Max times. The pauses double and are random, unless the service sends
// Retry-After. A call is repeated
//
//   - after 429, always;
//   - after 408, 502, 503, 504, and after a lost or incomplete response, if the call is a read, or a write that cannot
//     happen twice;
//   - after 500, if the call is a read;
//   - if no connection could be made.
//
// A write cannot happen twice if it has an idempotency key, or if repeating it changes nothing, such as creating a
// client whose email exists. Every attempt carries the same key.
//
// Where money moves, the key is a required parameter: dapi's Payouts.Pay, Escrows.Open and Escrows.Act, and appapi's
// Transfers.Send. Other writes send a key only if you give one with [IdempotencyKey]. The SDK never generates a key: if
// the program stopped, it would lose the key, and could pay again after the next start. Without a key, the platform API
// derives one from the request and remembers it for two hours. The SDK repeats such a call within that time only.
//
// If Retry-After is longer than [RetryPolicy].WaitMax, or ends after the context's deadline, the call fails at once.
// The error's RetryAt says when to try again. A wait fails in the same way, if this happens to one of its reads. A
// login that gets 503 starts again with a new challenge. All calls of a client share one budget of retries. So an
// outage does not multiply the load.
//
// # Secrets
//
// Tokens, card numbers and proofs have the type [Secret] or a credential type that behaves like it. Package fmt, the
// encoders for JSON, XML, YAML and gob, and log handlers show a redaction. Call Reveal to get the text. Clients,
// sessions and keys do not show their secrets to printers that use reflection either. [CaptureResponse] keeps no body
// of a call that reveals secrets. If the service repeats a credential or a secret in an error, the SDK removes it. Your
// own http.RoundTripper sees the request as it is sent, with its credential.
//
// A client can change its credential while it is in use: see dapi's and appapi's UseKey, and refapi's UseToken and
// UseAPIKey. New calls use the new credential. Calls that have begun continue with the old one.
//
// # Deadlines
//
// The context of a call bounds all of it: attempts, pauses, and waiting for a rate window. [WithTimeout] and [Timeout]
// bound calls in the same way. Without a deadline, a call still ends. It fails if the service sends no response within
// 30 seconds (with the SDK's own transport), or within 45 seconds over all attempts; if no byte of the body arrives for
// 30 seconds; or if the body is not complete after one minute. The response then counts as lost. A stream, such as a
// PDF, has no limit for its whole body. A Timeout in the http.Client that you give to [WithHTTPClient] bounds each
// attempt.
//
// # Rate windows
//
// The platform API has rate limits, called rate windows, such as 120 writes a minute. A client keeps its calls inside
// them; see [WithRateShare], [WithRateLimiter] and [WithoutPacing]. It counts a window of one minute as 61 seconds,
// because the network can delay the first of two calls more than the second.
//
// When a window is full, calls wait in line. Calls that renew the access token go first. Then come confirms, in the
// order in which their approvals expire. Then come other writes and reads, in the order in which they were made. Reads
// of waits come last. Each of these classes gets at least a tenth of the window while it has calls in line, unless a
// confirm would be too late. The reads of waits leave a tenth of the window free. Payments wait before they are booked,
// because an approval could expire in line. You can start any number of payments at once.
//
// A call waits as long as its context allows. If it would wait beyond the deadline, it fails at once with
// *errors.NotDelivered, and RetryAt says when to try again. The first call in line is sent after at most 65 seconds.
// [Response].Queued says how long a call waited. Waiting for more than a second is logged.
//
// # Responses that differ
//
// The service's description does not state every detail. The SDK assumes the others; openapi/README.md lists each
// assumption, and says what happens if it is wrong. In general:
//
//   - A field that is missing, or has another type than expected, is zero. The SDK reads the rest of the response. It
//     also reads numbers written as strings and strings written as numbers, other spellings of times and bytes, and a
//     list under another member name. It leaves out an entry of a list that it cannot read.
//   - [Response].Unread names what could not be read, and the logger reports it (see [WithLogger]).
//   - A few fields are required, because they prove that the response belongs to the request: the id of what was
//     created, the hash of a transfer, the echo of a key, the details of a card. Without them, a write fails with
//     *errors.InDoubt and a read with *errors.UnexpectedResponse.
//   - Some writes have a response that the description does not show. Every 2xx response to such a write counts as a
//     success. If the response does not contain the resource, the SDK makes another call to read the resource. If that
//     is not possible, the call returns the zero value.
//
// # Go releases
//
// The SDK supports the two newest releases of Go, now 1.26 and 1.27. It behaves the same on both.
//
// # Amounts
//
// Amounts are decimal.Decimal, never floating point. They are in units of their currency or token: 12.5 USDC is 12.5.
//
// [glossary]: https://github.com/moneymovement/moneymovement-go/blob/main/docs/glossary.md
// [error page]: https://github.com/moneymovement/moneymovement-go/blob/main/docs/errors.md
// [production guide]: https://github.com/moneymovement/moneymovement-go/blob/main/docs/production.md
// [pages for tasks]: https://github.com/moneymovement/moneymovement-go/blob/main/docs/README.md
package moneymovement
