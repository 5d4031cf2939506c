package dapi

import "github.com/moneymovement/moneymovement-go/errors"

// unproven is what an answer means that says success and does not show it: no more than one that was lost.
func unproven(operation, key, reason string) error {
	return &errors.OutcomeUnknown{
		Operation: operation, IdempotencyKey: key, Resolve: "repeat the same request with the same idempotency key", Err: errors.New(reason),
	}
}
