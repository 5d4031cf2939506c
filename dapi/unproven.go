package dapi

import "github.com/moneymovement/moneymovement-go/errors"

// unproven is what the answer of a booking or a confirm means that says success and does not show it: no more than one that was lost.
func unproven(head errors.Head, reason error) error {
	return &errors.OutcomeUnknown{Head: head, Resolve: "repeat the same request with the same idempotency key", Cause: reason}
}
