package errors

// OutcomeUnknown is a write whose answer was lost or could not be read: the service may have done what was asked.
type OutcomeUnknown struct {
	// Operation is the OpenAPI operationId.
	Operation string
	// IdempotencyKey is the key the write was sent with.
	IdempotencyKey string
	// RequestID is the X-Request-ID of the answer, when there was a readable head.
	RequestID string
	// Repeatable says that sending the request again cannot do it twice: it changes nothing, or its idempotency key or a natural
	// key anchors it.
	Repeatable bool
	// Moneyless says that the operation moves no money, whatever becomes of it.
	Moneyless bool
	// Attempts is how many times the request was sent.
	Attempts int
	// Resolve is one sentence that says how to find out, for example to repeat with the same key.
	Resolve string
	// Err is what went wrong: a transport error, a context error, an [*UnexpectedAnswer].
	Err error
}

// Error is one line, safe to log.
func (e *OutcomeUnknown) Error() string {
	message := "outcome unknown"
	if cause := causeText(e.Err); cause != "" {
		message += ": " + cause
	}
	return errorLine{
		operation:      e.Operation,
		message:        message,
		concerned:      oneLine(e.Resolve, maxMessage),
		requestID:      e.RequestID,
		idempotencyKey: e.IdempotencyKey,
		attempts:       e.Attempts,
	}.String()
}

// Unwrap gives what went wrong, so that context errors are visible to errors.Is.
func (e *OutcomeUnknown) Unwrap() error { return e.Err }

// Retryable reports whether the write can be repeated, with the same idempotency key, without doing it twice.
func (e *OutcomeUnknown) Retryable() bool { return e.Repeatable }

// MovedByCall is [MaybeMoved], unless the operation is Moneyless.
func (e *OutcomeUnknown) MovedByCall() Movement {
	if e.Moneyless {
		return NotMoved
	}
	return MaybeMoved
}
