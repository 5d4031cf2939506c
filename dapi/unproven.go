package dapi

import (
	"context"
	"fmt"

	"github.com/moneymovement/moneymovement-go/errors"
)

// unproven is what the answer of a booking or a confirm means that says success and does not show it: no more than one that was lost.
func unproven(head errors.Head, reason error) error {
	return &errors.OutcomeUnknown{Head: head, Resolve: "repeat the same request with the same idempotency key", Cause: reason}
}

// thenEnded adds to the cause of a doubt that the context ended while the doubt was being settled, which err tells.
func thenEnded(cause, err error) error {
	if unknown, ok := errors.AsType[*errors.OutcomeUnknown](cause); ok {
		unknown.Cause = thenEnded(unknown.Cause, err)
		return cause
	}
	for _, end := range []error{context.Canceled, context.DeadlineExceeded} {
		if errors.Is(err, end) && !errors.Is(cause, end) {
			return fmt.Errorf("%w; then %w", cause, err)
		}
	}
	return cause
}
