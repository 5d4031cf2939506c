package errors

// Failure is what every error of the SDK can be asked about the call that it comes from:
//
//	var failure errors.Failure
//	if errors.As(err, &failure) && failure.Retryable() { ... }
//
// A refusal speaks for its call; only success, already funded, or the payout's own end settles a payment that was in
// doubt. What is known of a payment over all its calls is the answer of dapi.PaymentStateOf(payout, err).
type Failure interface {
	error
	// Retryable reports whether the very same request, with the same idempotency key, may be sent again now, unchanged,
	// and has a chance to succeed. It says nothing about what an operator can mend, see [RemedyChangeAccount].
	Retryable() bool
	// MovedByCall says whether this call moved the money that it asked to move, and nothing about the calls before it.
	// Only a flow that makes a payment, such as dapi's Pay, knows of them: where one may have paid, it returns
	// [OutcomeUnknown].
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
// [RemedyChangeRequest], since a condition that lies in the request refuses the same request again.
type Remedy string

// What can be done about a refusal.
const (
	// RemedyChangeRequest: the same request is refused again, another one may succeed.
	RemedyChangeRequest Remedy = "change_request"
	// RemedyChangeAccount: an operator has to act first, on a balance, a key, a permission, a contact or the account's
	// verification. Then the same request with the same idempotency key may succeed.
	RemedyChangeAccount Remedy = "change_account"
	// RemedyWait: the same request may succeed later, after RetryAfter or with backoff.
	RemedyWait Remedy = "wait"
	// RemedyLogin: mint a new access token, then send the same request once more.
	RemedyLogin Remedy = "login"
	// RemedyRestart: begin the step again, with a new challenge, quote or approval, or from the first page.
	RemedyRestart Remedy = "restart"
	// RemedyNone: nothing to do, what was asked for is already so.
	RemedyNone Remedy = "none"
)

var (
	_ Failure = (*Refusal)(nil)
	_ Failure = (*Unrecognized)(nil)
	_ Failure = (*DetailErrors)(nil)
	_ Failure = (*UnexpectedResponse)(nil)
	_ Failure = (*OutcomeUnknown)(nil)
	_ Failure = (*InvalidInput)(nil)
	_ Failure = (*NotDelivered)(nil)
)
