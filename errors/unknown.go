package errors

import "github.com/moneymovement/moneymovement-go/internal/errorbase"

// InDoubt is the error for a write whose response was lost or cannot be read. The service may have done what the
// request asked for.
//
// It has no Unwrap method. Cause can be a refusal of the last attempt, which says nothing about earlier attempts. So
// errors.As does not find that refusal. errors.Is finds errors that are compared by value, such as
// context.DeadlineExceeded.
//
// For a payment, it is also the error of a call that was refused while an earlier call may have paid. The text then
// says "this call paid nothing", and why.
//
// RetryAt is the time at which to call again, if the last response gave one, such as a 429 with Retry-After. Otherwise
// it is zero. [CallInfoOf] finds it in any error.
//
// See https://github.com/moneymovement/moneymovement-go/blob/main/docs/errors.md#errorsindoubt
type InDoubt struct {
	CallInfo
	// Resolve is one sentence that says how to find out what happened, for example "repeat the same request with the
	// same idempotency key".
	Resolve string
	// Cause is the error of the last attempt, for people who look into it: a connection error, a context's error, an
	// [*UnexpectedResponse] or a refusal.
	Cause error
}

// Error returns one line that is safe to log.
func (e *InDoubt) Error() string { return e.line().String() }

func (e *InDoubt) line() *errorLine {
	message := "outcome unknown"
	if e.facts.Earlier > errorbase.NonePaid { // of the payment, and not of this call
		message = ""
	}
	return &errorLine{call: e.CallInfo, message: message, cause: e.Cause, advice: e.Resolve, doubt: true,
		anchor: errorbase.Anchor("errors.InDoubt")}
}

// Is reports whether target is in Cause's tree, so that errors.Is finds a context's error or io.ErrUnexpectedEOF.
func (e *InDoubt) Is(target error) bool { return Is(e.Cause, target) }

// Retryable reports whether the same write can be sent again without the risk that it is done twice. It returns false
// if neither an idempotency key nor another natural key identifies the write.
func (e *InDoubt) Retryable() bool { return !e.facts.Once }

// MovedByCall returns [MaybeMoved], or [NotMoved] if the operation moves no money.
func (e *InDoubt) MovedByCall() Movement {
	if e.facts.Moneyless {
		return NotMoved
	}
	return MaybeMoved
}
