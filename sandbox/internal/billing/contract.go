package billing

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/appwire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/commonwire"
)

// contract is an agreement, from its offer on.
type contract struct {
	ID                   string
	Client, Contractor   party
	Terms                appwire.ContractCreate
	ExpirationAt         time.Time // zero if it does not end by itself
	Methods              []commonwire.PaymentMethod
	CreatedAt, UpdatedAt time.Time

	Status commonwire.ContractStatus
	// When each side accepted; zero before that.
	ClientAccepted, ContractorAccepted time.Time

	invoices []*invoice // oldest first
}

// requiresSignature reports whether the client signs after the contractor.
func (c *contract) requiresSignature() bool {
	return c.Terms.RequireSignature != nil && *c.Terms.RequireSignature
}

// pending reports whether a side has not accepted yet.
func (c *contract) pending() bool {
	return c.Status == commonwire.ContractStatusPendingApprovalByContractor ||
		c.Status == commonwire.ContractStatusPendingApprovalByClient
}

// over reports whether the contract has ended.
func (c *contract) over() bool {
	return c.Status == commonwire.ContractStatusCompleted || c.Status == commonwire.ContractStatusCancelled
}

func (c *contract) move(status commonwire.ContractStatus, at time.Time) {
	c.Status, c.UpdatedAt = status, at
}

// accept stores one side's acceptance, and passes the contract to the next side.
func (c *contract) accept(side *time.Time, at time.Time) {
	if side.IsZero() {
		*side = at
	}
	switch {
	case c.ContractorAccepted.IsZero():
		c.move(commonwire.ContractStatusPendingApprovalByContractor, at)
	case c.ClientAccepted.IsZero():
		c.move(commonwire.ContractStatusPendingApprovalByClient, at)
	default:
		c.move(commonwire.ContractStatusActive, at)
	}
}

// settle does what is due: the contractor accepts, or the contract ends.
func (t *turn) settle(c *contract) {
	if t.overdue(c) {
		t.changed(c)
	}
}

// changed stores a new or changed contract.
func (t *turn) changed(c *contract) { t.contracts.Put(c.ID, c) }

// overdue does what is due, and reports whether there was anything to do.
func (t *turn) overdue(c *contract) (changed bool) {
	due := c.CreatedAt.Add(time.Duration(t.settings.ContractorAcceptsAfter))
	if c.Status == commonwire.ContractStatusPendingApprovalByContractor && !t.now.Before(due) && !c.ended(due) {
		c.accept(&c.ContractorAccepted, due)
		changed = true
	}
	if c.over() || !c.ended(t.now) {
		return changed
	}
	end := commonwire.ContractStatusCompleted
	if c.pending() {
		end = commonwire.ContractStatusCancelled
	}
	c.move(end, c.ExpirationAt)
	return true
}

func (c *contract) ended(at time.Time) bool {
	return !c.ExpirationAt.IsZero() && !at.Before(c.ExpirationAt)
}

// seenBy reports whether an account is a party.
func (c *contract) seenBy(who party) bool { return c.Client.is(who) || c.Contractor.is(who) }

// contract finds a contract of the caller, and brings it up to date.
func (t *turn) contract(id string) (*contract, error) {
	found := t.contracts.Get(id)
	if found == nil || !found.seenBy(t.me) {
		return nil, wire.NotFound()
	}
	t.settle(found)
	return found, nil
}

// Contract reads a contract.
func (b *Billing) Contract(ctx context.Context, id string) (commonwire.Contract, error) {
	return b.onContract(ctx, id, func(*turn, *contract) error { return nil })
}

// onContract changes one contract, and returns the changed contract.
func (b *Billing) onContract(
	ctx context.Context, id string, do func(*turn, *contract) error,
) (commonwire.Contract, error) {
	t := b.enter(ctx)
	defer b.leave()
	found, err := t.contract(id)
	if err != nil {
		return commonwire.Contract{}, err
	}
	if err := do(t, found); err != nil {
		return commonwire.Contract{}, err
	}
	return found.view(), nil
}

// Contracts lists the contracts of the account, newest first.
func (b *Billing) Contracts(ctx context.Context, page wire.Page) appwire.ContractList {
	t := b.enter(ctx)
	defer b.leave()
	items, total := wire.Newest(t.contractOrder,
		func(c *contract) bool { return c.seenBy(t.me) },
		func(c *contract) commonwire.Contract { t.settle(c); return c.view() }, page)
	return appwire.ContractList{Items: items, Total: &total}
}

// CreateContract offers a contract. The caller is its client.
func (b *Billing) CreateContract(ctx context.Context, body appwire.ContractCreate) (commonwire.Contract, error) {
	t := b.enter(ctx)
	defer b.leave()
	contractor := t.resolve(body.ContractorEmail)
	wrong := checkFields(body.Fields)
	if contractor.is(t.me) {
		wrong = append(wrong,
			wire.Field{Field: "contractorEmail", Code: "value_error", Message: "You cannot be your own contractor."})
	}
	if err := invalid(wrong); err != nil {
		return commonwire.Contract{}, err
	}
	offered := &contract{
		ID:         uuid.NewString(),
		Client:     t.me,
		Contractor: contractor,
		Terms:      body,
		CreatedAt:  t.now,
		UpdatedAt:  t.now,
		Status:     commonwire.ContractStatusPendingApprovalByContractor,
	}
	if !offered.requiresSignature() {
		offered.ClientAccepted = t.now
	}
	t.changed(offered)
	t.contractOrder = append(t.contractOrder, offered)
	return offered.view(), nil
}

// checkFields returns what is wrong with the values of a contract's fields.
func checkFields(fields appwire.ContractFields) []wire.Field {
	switch {
	case fields.Amount.IsZero():
		return nil // a contract may leave the amount to its invoices
	case fields.Currency == "":
		return []wire.Field{{Field: "fields.currency", Code: "missing", Message: "An amount needs a currency."}}
	default:
		return checkAmount("fields.amount", fields.Amount, decimalsOf(commonwire.InvoiceCurrency(fields.Currency)))
	}
}

// view returns the contract as responses show it.
func (c *contract) view() commonwire.Contract {
	view := commonwire.Contract{
		ID:                   c.ID,
		Type:                 c.Terms.Type,
		Status:               c.Status,
		ClientID:             c.Client.ID,
		ContractorID:         c.Contractor.ID,
		CreatorID:            c.Client.ID,
		Client:               c.Client.onContract(),
		Contractor:           c.Contractor.onContract(),
		Label:                c.Terms.Label,
		Period:               c.Terms.Period,
		Currency:             c.Terms.Fields.Currency,
		ActivationAt:         c.Terms.ActivationAt,
		ExpirationAt:         c.ExpirationAt,
		PriorityMethods:      c.Terms.PriorityMethods,
		PaymentMethods:       slices.Clone(c.Methods),
		ClientAcceptance:     acceptance(c.ClientAccepted),
		ContractorAcceptance: acceptance(c.ContractorAccepted),
		Fields:               fieldsOf(c.Terms.Fields),
		CreatedAt:            c.CreatedAt,
		UpdatedAt:            c.UpdatedAt,
	}
	if amount := c.Terms.Fields.Amount; amount.IsPositive() {
		view.Amount = &amount
	}
	if len(c.invoices) > 0 {
		last := c.invoices[len(c.invoices)-1].onContract()
		view.LastInvoice = &last
	}
	if c.requiresSignature() {
		view.SignatureRequestID = "sig_" + c.ID
		if !c.ClientAccepted.IsZero() && !c.ContractorAccepted.IsZero() {
			view.Signed = commonwire.OpenObject{"client": stamp(c.ClientAccepted),
				"contractor": stamp(c.ContractorAccepted)}
		}
	}
	return view
}

// acceptance returns one side's acceptance as responses show it. It is empty before the acceptance.
func acceptance(at time.Time) commonwire.OpenObject {
	if at.IsZero() {
		return nil
	}
	return commonwire.OpenObject{"acceptedAt": stamp(at)}
}

func stamp(at time.Time) string { return at.UTC().Format(time.RFC3339Nano) }
