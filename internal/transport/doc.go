// Package transport is the request path that all surfaces share. One call walks these concerns in this order, one file
// each:
//
//	validate     what is stated, and what would change the path or break a header, before anything is sent
//	encode       the body, once
//	idempotency  the caller's key; without one, the service may derive its own for two hours
//	retry        our policy within a client-wide budget, for the first attempt; for those after it in
//	             go-retryablehttp's loop
//	ratelimit    pacing inside the stated windows, once for each attempt
//	authorize    the credential, renewed and replayed once when it has expired
//	send         one attempt: never redirected, never replayed behind our back
//	decode       the answer, bounded and strict, or its typed error
//	outcome      what a failure means: refused, not delivered, or unknown
//
// # The two roads
//
// A first attempt goes from the public method to the wire in these steps:
//
//  1. dapi.(*Payouts).Get, or another method of a surface
//  2. dapi.lowLevel.GetPayout, which is generated and fills a [Request]
//  3. transport.Do, which decodes into the operation's type
//  4. transport.(*Client).do, which validates, encodes and renews a credential
//  5. transport.(*Client).send, which turns the end of an exchange into a value or an error
//  6. transport.(*Client).exchange, which waits for the rate window and authorizes
//  7. transport.(*Client).attempt, which every attempt comes to
//  8. RoundTrip, of the transport that the caller gave or of ours
//
// If it ends in something worth repeating, exchange lets the pause pass and goes on with an [http.Client] and a client
// of go-retryablehttp that are made for this one call and know its tracker. A retry goes the same way down to exchange,
// and then:
//
//  7. transport.(*tracker).retrying, which gives the loop its request
//  8. retryablehttp.(*Client).Do, which pauses between attempts, and asks checkRetry, backoff and prepareRetry as
//     exchange does
//  9. http.(*Client).Do, which keeps the Timeout of the caller's client
//  10. transport.attempts.RoundTrip, which passes the tracker on
//  11. transport.(*Client).attempt, which every attempt comes to
//  12. RoundTrip, of the transport that the caller gave or of ours
//
// Where the caller's client has a Timeout, its first attempt goes through http.(*Client).Do and attempts.RoundTrip,
// too, for that alone.
package transport
