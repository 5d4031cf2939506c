package errors

// OutcomeUnknown is a write whose answer was lost or could not be read: the service may have done what was asked.
//
// It does not unwrap. What the last attempt ended in, perhaps a refusal, says nothing about the attempts before it, and
// errors.As must not find it as if it did. Errors that are compared by value, such as context.DeadlineExceeded, are
// found by errors.Is.
type OutcomeUnknown struct {
	CallInfo
	// Resolve is one sentence that says how to find out, for example to repeat with the same key.
	Resolve string
	// Cause is what the last attempt ended in, for a person who looks: a transport error, a context error, an
	// [*UnexpectedResponse], a refusal.
	Cause error
}

// Error is one line, safe to log.
func (e *OutcomeUnknown) Error() string { return e.line().String() }

func (e *OutcomeUnknown) line() errorLine {
	return errorLine{head: e.CallInfo, message: "outcome unknown", cause: e.Cause, advice: e.Resolve}
}

// Is reports whether target is in Cause's tree, so that errors.Is finds context errors and those of package io.
func (e *OutcomeUnknown) Is(target error) bool { return Is(e.Cause, target) }

// Retryable reports whether the write can be repeated, with the same idempotency key, without doing it twice.
func (e *OutcomeUnknown) Retryable() bool { return !e.facts.Once }

// MovedByCall is [MaybeMoved], unless the operation moves no money at all.
func (e *OutcomeUnknown) MovedByCall() Movement {
	if e.facts.Moneyless {
		return NotMoved
	}
	return MaybeMoved
}
