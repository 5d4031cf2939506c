package dapi

import (
	"context"
	"fmt"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/callfacts"
)

// unproven is what the answer of a booking or a confirm means that says success and does not show it: no more than one
// that was lost.
func unproven(head errors.CallInfo, reason error) error {
	return &errors.OutcomeUnknown{CallInfo: head, Resolve: "repeat the same request with the same idempotency key",
		Cause: reason}
}

// thenEnded adds to the cause of a doubt that the context ended while the doubt was being settled, which err tells.
func thenEnded(cause, err error) error {
	if unknown, ok := cause.(*errors.OutcomeUnknown); ok { //nolint:errorlint // as in inDoubt
		unknown.Cause = thenEnded(unknown.Cause, err)
		return cause
	}
	for _, end := range []error{context.Canceled, context.DeadlineExceeded} {
		if errors.Is(err, end) && !errors.Is(cause, end) {
			return fmt.Errorf("%w; then %w", cause, end) // and nothing else of err, whose types are not the payment's
		}
	}
	return cause
}

// inDoubt is the error of what may have been done, by this call or one before it. It does not unwrap to what was
// refused last: that speaks for its call only. operation is for a cause that names none.
func inDoubt(cause error, operation string, key moneymovement.Key, resolve string) error {
	unknown, ok := cause.(*errors.OutcomeUnknown) //nolint:errorlint // one that is wrapped, as by a hook, is about something else
	if !ok {
		head, _ := errors.CallInfoOf(cause)
		if head.Operation == "" {
			head.Operation = operation
		}
		head.IdempotencyKey = string(key)
		unknown = &errors.OutcomeUnknown{CallInfo: head.WithFacts(callfacts.Facts{}), Cause: cause}
	}
	unknown.Resolve = resolve
	return unknown
}
