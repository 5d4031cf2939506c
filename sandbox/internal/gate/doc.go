// Package gate is everything before and around an operation. A request passes,
// in this order:
//
//	id        every answer carries X-Request-ID, every request is logged
//	name      403 if its Host header has a name that is none of the host's
//	fault     what was scripted for it
//	surface   by path; it brings its own credential, and its own shape of refusals
//	route     404 not_found, 405 method_not_allowed
//	admit     401, 403, 429: on the platform API the session, its rate windows, its developer key, and the client that
//	          X-Service-Account names; on the app API the key and its scopes; on the reference endpoints the access token;
//	          nothing on the public utilities
//	room      409 conflict for what would make the host keep more than the setting maxRecords allows
//	body      413 payload_too_large, 400 invalid_request if it breaks off; nothing of it is read before
//	validate  400 and 422, by the OpenAPI description; amounts whose JSON type is an assumption may come as the other one
//	operate   the state machine's own rules
//
// Refusals of any step become the platform envelope, but for failed validations of
// the reference endpoints, which are an array of details. The answer is written into
// memory and delivered at the end, so that a scripted fault can lose it after
// the operation ran.
package gate
