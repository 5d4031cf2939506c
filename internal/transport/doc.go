// Package transport is the request path that all surfaces share. A call goes through these steps in this order. Each
// step has a file:
//
//	validate     checks the request by the stated rules, and refuses values that would change the path or a header
//	encode       encodes the body, once
//	idempotency  sets the caller's key; without a key, the service may derive its own for two hours
//	retry        repeats attempts in go-retryablehttp's loop, by our policy and within the client's budget
//	ratelimit    keeps inside the stated windows, for each attempt
//	authorize    sets the credential; if it has expired, renews it and repeats the attempt once
//	send         makes one attempt; follows no redirect, and lets nothing below repeat it
//	decode       returns the response, limited and strictly decoded, or its typed error
//	outcome      says what a failure means: refused, not delivered, or unknown
//
// # The two roads
//
// A first attempt goes from the public method to the wire in these steps:
//
//  1. dapi.(*Payouts).Get, or another method of a surface
//
//  2. dapi.lowLevel.GetPayout, which is generated and fills a [Request]
//
//  3. transport.Do, which decodes into the operation's type
//
//  4. transport.(*Client).do, which validates, encodes and renews a credential
//
//  5. transport.(*Client).send, which turns the end of an exchange into a value or an error
//
//  6. transport.(*Client).exchange, which waits for the rate window and sets the credential
//
//  7. transport.(*Client).attempt, which makes every attempt
//
//  8. RoundTrip, of the caller's transport or of the default one
//
// If the attempt should be repeated, exchange waits for the pause. Then it continues with an [http.Client] and a client
// of go-retryablehttp, which are made for this one call and know its tracker. A retry goes through the same steps up to
// exchange, and then:
//
//  7. transport.(*tracker).retrying, which gives the loop its request
//  8. retryablehttp.(*Client).Do, which pauses between attempts, and calls checkRetry, backoff and prepareRetry like
//     exchange
//  9. http.(*Client).Do, which applies the Timeout of the caller's client
//  10. transport.attempts.RoundTrip, which passes the tracker on
//  11. transport.(*Client).attempt, which makes every attempt
//  12. RoundTrip, of the caller's transport or of the default one
//
// If the caller's client has a Timeout, its first attempt also goes through http.(*Client).Do and attempts.RoundTrip,
// so that the Timeout applies.
package transport
