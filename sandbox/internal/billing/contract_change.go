package billing

import (
	"context"
	"slices"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/appapi"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/commonapi"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/given"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/refuse"
)

// UpdateContract changes the fields and the schedule that are given and leaves the rest. Source: App API, Contracts.
func (b *Billing) UpdateContract(ctx context.Context, id string, body appapi.ContractUpdate) (commonapi.Contract, error) {
	return b.onContract(ctx, id, func(t *turn, c *contract) error {
		if c.over() {
			return refuse.Conflict("The contract has ended.")
		}
		terms, expirationAt := c.terms, c.expirationAt
		given.To(&terms.Fields.Amount, body.Fields.Amount)
		given.To(&terms.Fields.Currency, body.Fields.Currency)
		given.To(&terms.Fields.JobTitle, body.Fields.JobTitle)
		given.To(&terms.Fields.ScopeDescription, body.Fields.ScopeDescription)
		given.To(&terms.Period, body.Period)
		given.To(&terms.ActivationAt, body.ActivationAt)
		given.To(&expirationAt, body.ExpirationAt)
		given.To(&terms.Label, body.Label)
		given.To(&terms.PriorityMethods, body.PriorityMethods)

		wrong := checkFields(terms.Fields)
		if !expirationAt.IsZero() && !expirationAt.After(terms.ActivationAt) {
			wrong = append(wrong, refuse.Field{Field: "expirationAt", Code: "greater_than", Message: "A contract ends after it takes effect."})
		}
		if err := invalid(wrong); err != nil {
			return err
		}
		c.terms, c.expirationAt, c.updatedAt = terms, expirationAt, t.now
		t.settle(c)
		return nil
	})
}

// ReplacePaymentMethods puts methods in the place of all others. Invoices keep those they were issued with.
// Source: App API, Contracts.
func (b *Billing) ReplacePaymentMethods(ctx context.Context, id string, methods []commonapi.PaymentMethod) (commonapi.Contract, error) {
	return b.onContract(ctx, id, func(t *turn, c *contract) error {
		if c.over() {
			return refuse.Conflict("The contract has ended.")
		}
		c.methods, c.updatedAt = slices.Clone(methods), t.now
		return nil
	})
}

// ApproveContract accepts a contract for the calling party, and resumes a paused one.
// Source: App API, Contracts; States and transitions, Contract.
func (b *Billing) ApproveContract(ctx context.Context, id string) (commonapi.Contract, error) {
	return b.onContract(ctx, id, func(t *turn, c *contract) error {
		switch {
		case c.over():
			return refuse.Conflict("The contract has ended.")
		case c.status == commonapi.ContractStatusPaused:
			c.move(commonapi.ContractStatusActive, t.now)
		case !c.pending(): // in force already
		case c.client.is(t.me):
			c.accept(&c.clientAccepted, t.now)
		default:
			c.accept(&c.contractorAccepted, t.now)
		}
		return nil
	})
}

// PauseContract stops a contract from invoicing until it is approved again.
// Source: App API, Contracts; States and transitions, Contract.
func (b *Billing) PauseContract(ctx context.Context, id string) (commonapi.Contract, error) {
	return b.onContract(ctx, id, func(t *turn, c *contract) error {
		switch c.status {
		case commonapi.ContractStatusActive:
			c.move(commonapi.ContractStatusPaused, t.now)
			return nil
		case commonapi.ContractStatusPaused:
			return nil
		default:
			return refuse.Conflict("Only an active contract can be paused.")
		}
	})
}

// DeleteContract removes an offer, and cancels a contract that is in force. Source: App API, Contracts.
func (b *Billing) DeleteContract(ctx context.Context, id string) error {
	_, err := b.onContract(ctx, id, func(t *turn, c *contract) error {
		switch {
		case c.pending():
			delete(t.contracts, c.id)
			t.contractOrder = slices.DeleteFunc(t.contractOrder, func(other *contract) bool { return other == c })
		case c.status == commonapi.ContractStatusCompleted:
			return refuse.Conflict("The contract is completed.")
		case c.status != commonapi.ContractStatusCancelled:
			c.move(commonapi.ContractStatusCancelled, t.now)
		}
		return nil
	})
	return err
}
