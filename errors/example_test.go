package errors_test

import (
	"fmt"
	"net/http"

	"github.com/moneymovement/moneymovement-go/errors"
)

// book stands for any call of the SDK.
func book() error {
	return errors.Decode(errors.Response{
		CallInfo: errors.CallInfo{Operation: "BookPayout", IdempotencyKey: "invoice-42", Attempts: 1},
		Status:   http.StatusConflict,
		Header:   http.Header{"X-Request-Id": {"req_1"}},
		Body: []byte(`{"error":{"code":"idempotency_key_reused","message":"This key was used with other terms.",
			"details":{"payoutId":"po_7"}}}`),
	})
}

func Example() {
	err := book()

	var reused *errors.IdempotencyKeyReused
	var inDoubt *errors.InDoubt
	switch {
	case errors.As(err, &reused):
		fmt.Println("the key belongs to", reused.PayoutID)
	case errors.As(err, &inDoubt):
		fmt.Println(inDoubt.Resolve)
	}
	fmt.Println(err)
	// Output:
	// the key belongs to po_7
	// BookPayout: 409 idempotency_key_reused: This key was used with other terms - the idempotency key belongs to po_7, which has other terms: check it before you use a new key (request req_1, key invoice-42) - see https://github.com/moneymovement/moneymovement-go/blob/main/docs/errors.md#idempotency_key_reused
}

// The common part serves callers who treat many slugs alike.
func ExampleRefusal() {
	if refusal, ok := errors.AsType[*errors.Refusal](book()); ok {
		fmt.Println(refusal.Code, refusal.Status, refusal.Remedy(), refusal.Retryable())
	}
	// Output: idempotency_key_reused 409 new_key false
}

// After a payment failed, two questions matter: did money move, and is the call safe to repeat? Every error
// type says both.
func ExampleFailure() {
	lost := fmt.Errorf("paying: %w",
		&errors.InDoubt{CallInfo: errors.CallInfo{Operation: "ConfirmPayout", IdempotencyKey: "invoice-42"}})
	if failure, ok := errors.AsType[errors.Failure](lost); ok {
		fmt.Println(failure.MovedByCall(), failure.Retryable())
	}
	// Output: maybe_moved true
}
