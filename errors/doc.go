// Package errors has the errors of the SDK: one Go type for each slug that the service's description lists, and one
// type for each other way in which a call can fail. The package also exports everything that the standard package
// errors exports.
//
// The package has:
//
//   - The common part of all errors of a call: [CallInfo], [Failure], [Movement], [Remedy].
//   - Refusals, which are errors that the service sent: [Refusal], one type for each [Code] such as [QuoteExpired],
//     [DetailErrors], and [Unrecognized].
//   - Errors of the connection: [InDoubt], [NotDelivered], [UnexpectedResponse].
//   - Input that the SDK refuses before it sends anything: [InvalidInput].
//   - Helpers: [HasCode], [CallInfoOf], [Codes], [Decode], [RetryAfter].
//   - The functions of the standard package: [Is], [As], [AsType], [Join], [New], [Unwrap], [ErrUnsupported].
//
// Each error has an entry in docs/errors.md: what it means, whether a repeat is safe, whether money moved, what to do,
// and how to provoke it on the sandbox host. The text of an error ends with a link to its entry:
// https://github.com/moneymovement/moneymovement-go/blob/main/docs/errors.md. The glossary explains the words of the
// service: https://github.com/moneymovement/moneymovement-go/blob/main/docs/glossary.md.
//
// # How a call ends
//
// A call that reaches the service has one of three outcomes.
//
//   - Success: the error is nil.
//   - Refusal: the service said no. The error has the type of its slug, for example [*IdempotencyKeyReused]. If the SDK
//     does not know the slug, it is [*Unrecognized]. A validation failure of the /api/v1 endpoints is [*DetailErrors].
//     errors.As with a [*Refusal] finds all of them. If the response body is not the service's JSON error, such as a
//     proxy's HTML page, the error is [*UnexpectedResponse].
//   - In doubt: the response to a write was lost or cannot be read. The error is [*InDoubt]. It has the
//     idempotency key, and says how to find out what happened. It never wraps a refusal, so errors.As does not find
//     one.
//
// A call that does not reach the service does nothing, and fails with one of two errors. [*InvalidInput] means that the
// SDK refused the input. [*NotDelivered] means that the request could not be sent, or that a read got no response.
//
// # How to branch
//
// Branch on types, never on messages:
//
//	var reused *errors.IdempotencyKeyReused
//	if errors.As(err, &reused) {
//		log.Print(reused.PayoutID, reused.RequestID)
//	}
//
// Or branch on the code:
//
//	if errors.HasCode(err, errors.CodeQuoteExpired) {
//		// ask for a new price
//	}
//
// Every error of a call implements [Failure], which reports whether the same request may be sent again now, and whether
// this call moved money. A refusal says nothing about earlier calls. The state of a payment over all its calls is in
// dapi.Payment.
//
// A refusal also has a [Remedy]. After [RemedyChangeAccount], for example for a [*PayoutNotFundable] with a low
// balance, somebody must change the account first. Then repeat the call with the same idempotency key.
//
// In tests you can make errors by hand. For the zero &errors.RateLimited{}, HasCode, Remedy, Retryable and MovedByCall
// return the same as for an error that the service sent.
//
// # Logs
//
// The text of every error is one line of bounded length that is safe to log. It has the operation, the status, the
// slug, the service's message, the names of the fields that failed, what to do, the request id, the idempotency key and
// the link to the error page. It contains nothing else of a response body. The raw details and the excerpt of an
// unexpected response are in fields of the errors. A handler of log/slog gets a refusal as fields, without the text.
//
// # Beside the standard package
//
// Import this package instead of the standard package errors. A file needs only this one. Tools that add imports, such
// as gopls and goimports, choose by the names that the file uses. For errors.QuoteExpired or errors.HasCode they add
// this package. If a file uses only names that both packages have, such as errors.Is, they add the standard package,
// unless another file of the same Go package imports this one and uses these names too. Both choices are correct,
// because the functions are the same. The tools never change an import that is there.
//
// If a file must import both, name this one moneyerrors:
//
//	import (
//		"errors"
//
//		moneyerrors "github.com/moneymovement/moneymovement-go/errors"
//	)
package errors

//go:generate ../internal/tools/run errorcatalogue
