package dapi

import "github.com/moneymovement/moneymovement-go/errors"

// unproven is what the answer of a booking or a confirm means that says success and does not show it: no more than one that was lost.
func unproven(operation, key, reason string) error {
	return &errors.OutcomeUnknown{
		Head:    errors.Head{Operation: operation, IdempotencyKey: key},
		Resolve: "repeat the same request with the same idempotency key", Cause: errors.New(reason),
	}
}
