// Package gate is everything before and around an operation. A request passes,
// in this order:
//
//	id        every answer carries X-Request-ID, every request is logged
//	fault     what was scripted for it
//	route     404 not_found, 405 method_not_allowed
//	body      413 payload_too_large, 400 invalid_request if it breaks off
//	admit     401, 403, 429: the session, its rate windows, its developer key
//	account   X-Service-Account names a client of the session's integrator
//	validate  400 and 422, by the OpenAPI description
//	operate   the state machine's own rules
//
// Refusals of any step become the platform envelope. The answer is written into
// memory and delivered at the end, so that a scripted fault can lose it after
// the operation ran.
package gate
