// Package errors holds the errors of the money-movement SDK: one Go type for each slug of the service, and one type for
// each way in which a call can fail without a slug.
//
// # How a call ends
//
// A call that reached the service has one of three outcomes.
//
//   - Success: the error is nil.
//   - Refusal: the service said no. The error is the slug's own type, for example [*IdempotencyKeyReused], and every one
//     carries the common part [*Refusal]. A slug that the catalogue does not know is [*Unrecognized], a validation
//     failure of the /api/v1 endpoints is [*DetailErrors], and an answer that is no error envelope is
//     [*UnexpectedAnswer].
//   - Outcome unknown: a write whose answer was lost or could not be read. The error is [*OutcomeUnknown]; it carries the
//     idempotency key and says how to find out.
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
// Or on the code, through the common part:
//
//	if refusal, ok := errors.AsType[*errors.Refusal](err); ok && refusal.Code == errors.CodeQuoteExpired {
//		// ask for a new price
//	}
//
// All error types of this package answer two questions, see [Failure]: whether the same request may be sent again, and
// whether money moved.
//
// # Logging
//
// The text of every error is one bounded line that is safe to log: it names the operation, status, slug, request id and
// idempotency key, the service's message and the names of the fields concerned, and nothing else of a body. Raw details
// and the excerpt of an unexpected answer are in fields, for a person who looks.
//
// The package re-exports the functions of the standard package errors, so that one import serves both.
package errors

//go:generate go run ../internal/codegen/errorcatalogue
