// Package transport is the request path that all surfaces share. One call walks these concerns in this order, one file each:
//
//	validate     what is stated, and what would change the path or break a header, before anything is sent
//	encode       the body, once
//	idempotency  the caller's key; without one, the service may derive its own for two hours
//	retry        go-retryablehttp under our policy, within a client-wide budget; a first attempt that succeeds does not enter it
//	ratelimit    pacing inside the stated windows, once for each attempt
//	authorize    the credential, renewed and replayed once when it has expired
//	send         one attempt: never redirected, never replayed behind our back
//	decode       the answer, bounded and strict, or its typed error
//	outcome      what a failure means: refused, not delivered, or unknown
//
// [Do] in client.go shows the walk.
package transport
