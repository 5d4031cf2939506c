package errors

// Failure is what every error type of this package can be asked:
//
//	var failure errors.Failure
//	if errors.As(err, &failure) && failure.MovedByCall() != errors.NotMoved { ... }
type Failure interface {
	error
	// Retryable reports whether the very same request, with the same idempotency key, may be sent again and has a
	// chance to succeed.
	Retryable() bool
	// MovedByCall says whether the money that the request asked to move has moved.
	MovedByCall() Movement
}

// Movement says whether the money that a request asked to move has moved. The description states it for few slugs; for
// the others it is assumed, by default [NotMoved], since a refusal says that the service did not do what was asked.
type Movement string

// What is known about the money.
const (
	NotMoved   Movement = "not_moved"   // it has not
	Moved      Movement = "moved"       // it has
	MaybeMoved Movement = "maybe_moved" // it may have; repeat with the same idempotency key, or read the resource
)

// Remedy says what makes sense after a refusal. Where the description does not state it, it is assumed, by default
// [RemedyChange], since a condition that lies in the request or the account refuses the same request again.
type Remedy string

// What can be done about a refusal.
const (
	RemedyChange  Remedy = "change"  // the request or the account has to change first
	RemedyWait    Remedy = "wait"    // the same request may succeed later, after RetryAfter or with backoff
	RemedyLogin   Remedy = "login"   // mint a new access token, then send the same request once more
	RemedyRestart Remedy = "restart" // begin the step again: new challenge, new quote, new approval, first page
	RemedyNone    Remedy = "none"    // nothing to do: what was asked for is already so
)

var (
	_ Failure = (*Refusal)(nil)
	_ Failure = (*Unrecognized)(nil)
	_ Failure = (*DetailErrors)(nil)
	_ Failure = (*UnexpectedAnswer)(nil)
	_ Failure = (*OutcomeUnknown)(nil)
	_ Failure = (*InvalidInput)(nil)
	_ Failure = (*NotDelivered)(nil)
)
