// Package transport is the request path that all surfaces share. A call goes through these steps in this order. Each
// step has a function, and Request.send shows the steps from authorize to outcome in one loop:
//
//	validate   checks the request by the stated rules, and refuses values that would change the path or a header
//	encode     encodes the body, once
//	claim      compares the terms of the key with those that it was used for before
//	authorize  sets the credential of an attempt
//	pace       keeps inside the stated windows, for each attempt
//	roundTrip  sends; follows no redirect, and lets nothing below repeat it
//	again      decides by our policy and the client's budget whether there is another attempt, and after which pause
//	end        decodes the response, limited and strictly, or returns its typed error
//	renew      if the credential has expired, renews it and sends the call again, once
//	outcome    says what a failure means: refused, not delivered, or in doubt
//
// From the public method to the wire, an attempt takes these steps:
//
//  1. dapi.(*Payouts).Get, or another method of a surface
//  2. dapi.lowLevel.GetPayout, which is generated and fills a [Request]
//  3. transport.Do, which decodes into the operation's type
//  4. transport.(*Client).do, which validates and encodes
//  5. transport.(*Request).send, which loops over the attempts
//  6. transport.(*Request).attempt, which authorizes and paces one
//  7. transport.(*Request).roundTrip, which sends it
//  8. RoundTrip, of the caller's transport or of the default one
package transport
