package billing

import (
	"context"
	"slices"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/appwire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/commonwire"
)

// UpdateContract changes the given fields and the given schedule, and nothing else.
func (b *Billing) UpdateContract(
	ctx context.Context, id string, body appwire.ContractUpdate,
) (commonwire.Contract, error) {
	return b.onContract(ctx, id, func(t *turn, c *contract) error {
		if c.over() {
			return wire.Conflict("The contract has ended.")
		}
		terms, expirationAt := c.Terms, c.ExpirationAt
		wire.Update(&terms.Fields.Amount, body.Fields.Amount)
		wire.Update(&terms.Fields.Currency, body.Fields.Currency)
		wire.Update(&terms.Fields.JobTitle, body.Fields.JobTitle)
		wire.Update(&terms.Fields.ScopeDescription, body.Fields.ScopeDescription)
		wire.Update(&terms.Period, body.Period)
		wire.Update(&terms.ActivationAt, body.ActivationAt)
		wire.Update(&expirationAt, body.ExpirationAt)
		wire.Update(&terms.Label, body.Label)
		wire.Update(&terms.PriorityMethods, body.PriorityMethods)

		wrong := checkFields(terms.Fields)
		if !expirationAt.IsZero() && !expirationAt.After(terms.ActivationAt) {
			wrong = append(wrong,
				wire.Field{Field: "expirationAt", Code: "greater_than",
					Message: "A contract must end after it takes effect."})
		}
		if err := invalid(wrong); err != nil {
			return err
		}
		c.Terms, c.ExpirationAt, c.UpdatedAt = terms, expirationAt, t.now
		t.changed(c)
		t.settle(c)
		return nil
	})
}

// ReplacePaymentMethods replaces all payment methods. Invoices keep the methods with which they were issued.
func (b *Billing) ReplacePaymentMethods(
	ctx context.Context, id string, methods []commonwire.PaymentMethod,
) (commonwire.Contract, error) {
	return b.onContract(ctx, id, func(t *turn, c *contract) error {
		if c.over() {
			return wire.Conflict("The contract has ended.")
		}
		c.Methods, c.UpdatedAt = slices.Clone(methods), t.now
		t.changed(c)
		return nil
	})
}

// ApproveContract accepts a contract for the calling party, or resumes a paused contract.
func (b *Billing) ApproveContract(ctx context.Context, id string) (commonwire.Contract, error) {
	return b.onContract(ctx, id, func(t *turn, c *contract) error {
		switch {
		case c.over():
			return wire.Conflict("The contract has ended.")
		case c.Status == commonwire.ContractStatusPaused:
			c.move(commonwire.ContractStatusActive, t.now)
		case !c.pending(): // already in force
		case c.Client.is(t.me):
			c.accept(&c.ClientAccepted, t.now)
		default:
			c.accept(&c.ContractorAccepted, t.now)
		}
		t.changed(c)
		return nil
	})
}

// PauseContract stops a contract from invoicing until it is approved again.
func (b *Billing) PauseContract(ctx context.Context, id string) (commonwire.Contract, error) {
	return b.onContract(ctx, id, func(t *turn, c *contract) error {
		switch c.Status {
		case commonwire.ContractStatusActive:
			c.move(commonwire.ContractStatusPaused, t.now)
			t.changed(c)
			return nil
		case commonwire.ContractStatusPaused:
			return nil
		default:
			return wire.Conflict("Only an active contract can be paused.")
		}
	})
}

// DeleteContract deletes an offer, and cancels a contract that is in force.
func (b *Billing) DeleteContract(ctx context.Context, id string) error {
	_, err := b.onContract(ctx, id, func(t *turn, c *contract) error {
		switch {
		case c.pending():
			t.contracts.Delete(c.ID)
			t.contractOrder = slices.DeleteFunc(t.contractOrder, func(other *contract) bool { return other == c })
		case c.Status == commonwire.ContractStatusCompleted:
			return wire.Conflict("The contract is completed.")
		case c.Status != commonwire.ContractStatusCancelled:
			c.move(commonwire.ContractStatusCancelled, t.now)
			t.changed(c)
		}
		return nil
	})
	return err
}
