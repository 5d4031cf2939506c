// Package moneymovement is the root of a Go SDK for a money-movement service: accounts for businesses and individuals,
// virtual accounts on bank rails, payouts to banks and wallets, payins, contacts, invoices, contracts, cards and
// on-chain escrow.
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
// This package holds what a user of any of them starts with: the options of a client ([Option]) and of one call
// ([CallOption]), the [Key] of a write, and [Secret]. The resources that more than one surface returns, such as
// invoices, contracts and cards, are in package model.
//
// # Errors
//
// The error of a call is one of the types of package errors, which says for each whether to try again and whether money
// moved. A write whose answer was lost is never reported as a failure: it is *errors.OutcomeUnknown. What only a flow
// of several calls can end in, such as an approval that was not signed, has a type of its own beside the flow.
//
// # Retries
//
// A call is sent again, at most [RetryPolicy].Max times, with a random, doubling backoff or after the service's
// Retry-After:
//
//   - after 429, always;
//   - after 408, 502, 503, 504 and after a lost or truncated answer, if the call is a read, or a write that cannot
//     happen twice because its idempotency key or a natural key anchors it;
//   - after 500, if the call is a read;
//   - when no connection could be made.
//
// A write carries the caller's idempotency [Key], the same on every attempt. Where money moves the key is required:
// dapi's Payouts.Pay, Escrows.Open and Escrows.Act, and appapi's Transfers.Send. Any other write without one sends
// none; the SDK makes no key up, for a random one would be lost with the process. Where the service says that it
// derives a key from the request, which is where the platform API's keys anchor something, the call is repeated on that
// for the two hours that a derived key lives, counted from its first attempt. Where nothing is said, as for the app
// API's transfers, a call without a key is not repeated.
//
// A Retry-After that does not fit into the context's deadline, or is longer than [RetryPolicy].WaitMax, is not waited
// for: the refusal is returned at once and says in RetryAt when to try again. That goes for the reads of a wait, too. A
// login that meets 503 begins anew with a fresh challenge, as often. All calls of a client draw their retries from one
// budget, so that an outage is not multiplied.
//
// # Secrets
//
// Tokens, card numbers and what opens a session are of type [Secret], or of a credential type that is made like it. No
// verb of fmt, no encoder (JSON, XML, YAML, gob) and no log handler shows them, alone or within another value; Reveal
// gives the text. Clients, their sessions and keys do not show theirs to printers that work by reflection either. Of a
// call that reveals secrets, [CaptureResponse] keeps no body. A refusal that repeats the credential or a secret of its
// request is read with a redaction in its place. What a caller's own http.RoundTripper or transport sees is the request
// with its credential, as it is sent.
//
// A client takes a new credential while it is in use: dapi's UseKey, appapi's UseKey, refapi's UseToken and UseAPIKey.
// Calls that begin from then on carry it, and those under way end with the old one.
//
// # Deadlines
//
// The deadline of a call is its context's, and covers retries, pauses and waiting in line. Without one, an attempt
// still ends: it gives up on an answer that has not begun after 30 seconds (with the transport of the SDK's own), on
// one that has begun and brings nothing for 30 seconds, and on one whose body is not whole after a minute. Such an
// answer is lost: a call that may be sent again is, and a write that may not ends in *errors.OutcomeUnknown. A stream,
// such as a PDF, may take as long as its reader likes, but not bring nothing for 30 seconds. [WithHTTPClient] with a
// Timeout bounds each attempt more tightly.
//
// # Rate windows
//
// A client paces itself inside the stated windows of its surface; see [WithRateLimiter] and [WithoutPacing]. It holds a
// window of a minute for 61 seconds, because calls travel for different times, and takes a call's slot right before it
// is sent.
//
// When a window is full, calls wait in line by their class: first what renews the access token, then confirms, the
// approval that closes first before the others, then other writes and reads in the order in which they came, and last
// the reads of waits. A class that waits keeps a tenth of the window, unless a confirm would come too late for it, and
// waits leave a tenth of it free. Payments wait before they are booked, so that no approval closes in line: any number
// may be started at once.
//
// A call waits for as long as its context lets it. If its turn lies beyond the deadline, it is told so at once, as
// *errors.NotDelivered with RetryAt. The call that is first in line waits for 65 seconds at most and is then sent all
// the same: no window of a minute makes it wait that long, but one of an hour does, and a host that does not count must
// not hold a program up. [Response].Queued says how long a call waited, and over a second is logged.
//
// # Answers that differ
//
// The service's description leaves much open, so that this SDK assumes it; openapi/README.md lists each assumption. Any
// of them can be wrong:
//
//   - a member that is absent, or of another type than described, leaves its field zero and costs nothing else of the
//     answer. What can be read in another form is: a number as a text and the other way, other spellings of times and
//     bytes, a list in another envelope. An entry of a list that cannot be read is left out;
//   - [Response].Unread names what could not be read, and a logger is told (see [WithLogger]);
//   - only what shows that an answer is what was asked for has to be there: the id of what was made, a transfer's hash,
//     the echo of a key, the details of a card. Without it, a write is *errors.OutcomeUnknown and a read
//     *errors.UnexpectedResponse;
//   - of a write of which the description does not say what it returns, any success is one. What it changed is then
//     read, where it can be, else what is returned is the zero value; the answer is in [Response].Body.
//
// docs/assumptions.md says for each assumption what happens when it is wrong.
//
// # Go releases
//
// The two newest releases of Go are supported, now 1.26 and 1.27, and behave alike.
//
// # Amounts
//
// Amounts are decimal.Decimal, never floating point, in units of their currency or token.
package moneymovement
