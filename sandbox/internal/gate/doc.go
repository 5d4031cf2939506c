// Package gate does everything before and around an operation. A request goes through these steps, in this order:
//
//	id        each response has X-Request-ID, and each request is logged
//	name      403 if the host does not accept the name in the Host header
//	fault     what a test scripted for the request
//	surface   chosen by path; a surface has its own credential and its own form of refusals
//	route     404 not_found, 405 method_not_allowed
//	auth      401, 403, 429: on the platform API the session, its rate windows, its developer key, and the client that
//	          X-Service-Account names; on the app API the key and its scopes; on the reference endpoints the access
//	          token; nothing on the public utilities
//	records   409 conflict for a request that would make the host keep more than the setting maxRecords allows
//	body      413 payload_too_large, 400 invalid_request if it breaks off; the body is not read before this step
//	validate  400 and 422, by the OpenAPI description; where the type of an amount is an assumption, both types pass
//	run       the state machine's own rules
//
// A refusal of any step has the platform envelope, except that a failed validation of the reference endpoints is an
// array of details. The response is written to memory and sent at the end, so that a scripted fault can lose it after
// the operation ran.
package gate
