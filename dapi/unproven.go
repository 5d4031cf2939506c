package dapi

import (
	"context"
	"fmt"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/callfacts"
)

// unproven returns the error of a response to a booking or a confirm that reports success but does not prove it. It is
// handled as a lost response.
func unproven(head errors.CallInfo, reason error) error {
	return &errors.OutcomeUnknown{CallInfo: head, Resolve: "repeat the same request with the same idempotency key",
		Cause: reason}
}

// withContextError adds to the cause of a doubt that the context ended while the doubt was being settled, if err says
// so.
func withContextError(cause, err error) error {
	if unknown, ok := cause.(*errors.OutcomeUnknown); ok { //nolint:errorlint // as in inDoubt
		unknown.Cause = withContextError(unknown.Cause, err)
		return cause
	}
	for _, end := range []error{context.Canceled, context.DeadlineExceeded} {
		if errors.Is(err, end) && !errors.Is(cause, end) {
			// only the context's error: the other types in err are not about the payment
			return fmt.Errorf("%w; then %w", cause, end)
		}
	}
	return cause
}

// inDoubt returns the error of a call that was refused, while an earlier call may have paid. Input needs a decision,
// and so does a key that is too old: to send the same again cannot help.
func inDoubt(err error, operation string, key moneymovement.Key, resolve string, earlier callfacts.Earlier) error {
	_, old := err.(*KeyTooOld)            //nolint:errorlint // one in the caller's error is of another payment
	_, declined := err.(*PaymentDeclined) //nolint:errorlint // as above
	switch {
	case old:
		return err
	case !ofInput(err) || declined:
		err = unknownOutcome(err, operation, key, resolve)
	case earlier == callfacts.NotSaid: // input is refused before anything is signed
		earlier = callfacts.MayPay
	}
	saysOfEarlier(err, earlier)
	return err
}

// unknownOutcome returns the error of a payment that may have been made, by this call or an earlier one. It does not
// unwrap to the last refusal, which is only about its own call. operation is used if the cause has no operation.
func unknownOutcome(
	cause error, operation string, key moneymovement.Key, resolve string,
) *errors.OutcomeUnknown {
	unknown, ok := cause.(*errors.OutcomeUnknown) //nolint:errorlint // a wrapped one is about something else
	if !ok {
		head, _ := errors.CallInfoOf(cause)
		if head.Operation == "" {
			head.Operation = operation
		}
		head.IdempotencyKey = string(key)
		unknown = &errors.OutcomeUnknown{CallInfo: callfacts.With(head, callfacts.Facts{}), Cause: cause}
	}
	unknown.Resolve = resolve
	return unknown
}
