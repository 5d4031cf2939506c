// Package errors holds the errors of the money-movement SDK: one Go type for each slug of the service, and one type for
// each way in which a call can fail without a slug.
//
// # How a call ends
//
// A call that reached the service has one of three outcomes.
//
//   - Success: the error is nil.
//   - Refusal: the service said no. The error is the slug's own type, for example [*IdempotencyKeyReused], and every
//     one carries the common part [*Refusal]. A slug that the catalogue does not know is [*Unrecognized], a validation
//     failure of the /api/v1 endpoints is [*DetailErrors], and an answer that is no error envelope is
//     [*UnexpectedResponse]. A sentence in place of the failures is [*Unauthenticated] with status 401, else
//     [*Unrecognized].
//   - Outcome unknown: a write whose answer was lost or could not be read. The error is [*OutcomeUnknown]; it carries
//     the idempotency key and says how to find out. It wraps no refusal: errors.As never finds one in it.
//
// A call that did not reach the service ends in one of two local errors, and nothing has happened: [*InvalidInput] was
// refused before anything was sent, [*NotDelivered] could not be sent (or was a read that got no answer).
//
// # Branching
//
// Branch on types, never on messages:
//
//	var reused *errors.IdempotencyKeyReused
//	if errors.As(err, &reused) {
//		log.Print(reused.PayoutID, reused.RequestID)
//	}
//
// Or on the code:
//
//	if errors.HasCode(err, errors.CodeQuoteExpired) {
//		// ask for a new price
//	}
//
// Every error of the SDK can be asked two questions about its call, see [Failure]: whether the same request may be sent
// again now, and whether this call moved money. A refusal speaks for its call; only success, already funded, or the
// payout's own end settles a payment that was in doubt: dapi.PaymentStateOf speaks for the payment.
//
// A refusal also knows its [Remedy]. One that asks for the account to be changed, such as [*PayoutNotFundable] with a
// low balance, can be repeated with the same idempotency key once an operator has acted.
//
// What an error knows of its call is its [CallInfo], which [CallInfoOf] finds in any error. Errors answer by type: a
// zero &errors.RateLimited{}, as a test makes it, says the same as one that the service sent.
//
// # Logging
//
// The text of every error is one bounded line that is safe to log: it names the operation, status, slug, request id and
// idempotency key, the service's message, the names of the fields concerned and what to do about it, and nothing else
// of a body. Raw details and the excerpt of an unexpected answer are in fields, for a person who looks.
//
// The package re-exports the functions of the standard package errors, so that one import serves both.
package errors

//go:generate ../internal/tools/run errorcatalogue
