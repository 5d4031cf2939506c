package dapi

import "github.com/moneymovement/moneymovement-go/errors"

// unproven is what the answer of a booking or a confirm means that says success and does not show it: no more than one that was lost.
func unproven(operation, key, reason string) error {
	return &errors.OutcomeUnknown{
		Operation: operation, IdempotencyKey: key, Repeatable: true,
		Resolve: "repeat the same request with the same idempotency key", Err: errors.New(reason),
	}
}
