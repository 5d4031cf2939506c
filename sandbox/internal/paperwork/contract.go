package paperwork

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
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

// hasEnded reports whether the contract has ended.
func (c *contract) hasEnded() bool {
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

// update makes due changes: the contractor accepts, or the contract ends.
func (t *txn) update(c *contract) {
	if t.advance(c) {
		t.put(c)
	}
}

// put stores a new or changed contract.
func (t *txn) put(c *contract) { t.contracts.Put(c.ID, c) }

// advance makes due changes, and reports whether there were any.
func (t *txn) advance(c *contract) (changed bool) {
	due := c.CreatedAt.Add(time.Duration(t.settings.ContractorAcceptsAfter))
	if c.Status == commonwire.ContractStatusPendingApprovalByContractor && !t.now.Before(due) && !c.isExpired(due) {
		c.accept(&c.ContractorAccepted, due)
		changed = true
	}
	if c.hasEnded() || !c.isExpired(t.now) {
		return changed
	}
	end := commonwire.ContractStatusCompleted
	if c.pending() {
		end = commonwire.ContractStatusCancelled
	}
	c.move(end, c.ExpirationAt)
	return true
}

func (c *contract) isExpired(at time.Time) bool {
	return !c.ExpirationAt.IsZero() && !at.Before(c.ExpirationAt)
}

// visibleTo reports whether an account is a party.
func (c *contract) visibleTo(who party) bool { return c.Client.same(who) || c.Contractor.same(who) }

// contract finds a contract of the caller, and brings it up to date.
func (t *txn) contract(id string) (*contract, error) {
	contract := t.contracts.Get(id)
	if contract == nil || !contract.visibleTo(t.me) {
		return nil, wire.NotFound()
	}
	t.update(contract)
	return contract, nil
}

// Contract reads a contract.
func (b *Service) Contract(ctx context.Context, id string) (commonwire.Contract, error) {
	return b.changeContract(ctx, id, func(*txn, *contract) error { return nil })
}

// changeContract changes one contract, and returns the changed contract.
func (b *Service) changeContract(
	ctx context.Context, id string, do func(*txn, *contract) error,
) (commonwire.Contract, error) {
	t := b.begin(ctx)
	defer b.commit()
	contract, err := t.contract(id)
	if err != nil {
		return commonwire.Contract{}, err
	}
	if err := do(t, contract); err != nil {
		return commonwire.Contract{}, err
	}
	return contract.view(), nil
}

// Contracts lists the contracts of the account, newest first.
func (b *Service) Contracts(ctx context.Context, page wire.Page) appwire.ContractList {
	t := b.begin(ctx)
	defer b.commit()
	items, total := wire.NewestFirst(t.contractOrder,
		func(c *contract) bool { return c.visibleTo(t.me) },
		func(c *contract) commonwire.Contract { t.update(c); return c.view() }, page)
	return appwire.ContractList{Items: items, Total: &total}
}

// CreateContract offers a contract. The caller is its client.
func (b *Service) CreateContract(ctx context.Context, body appwire.ContractCreate) (commonwire.Contract, error) {
	t := b.begin(ctx)
	defer b.commit()
	contractor := t.resolve(body.ContractorEmail)
	wrong := checkFields(body.Fields)
	if contractor.same(t.me) {
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
	t.put(offered)
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
		Client:               c.Client.contractView(),
		Contractor:           c.Contractor.contractView(),
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
		last := c.invoices[len(c.invoices)-1].contractView()
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

// UpdateContract changes the given fields and the given schedule, and nothing else.
func (b *Service) UpdateContract(
	ctx context.Context, id string, body appwire.ContractUpdate,
) (commonwire.Contract, error) {
	return b.changeContract(ctx, id, func(t *txn, c *contract) error {
		if c.hasEnded() {
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
		t.put(c)
		t.update(c)
		return nil
	})
}

// ReplacePaymentMethods replaces all payment methods. Invoices keep the methods with which they were issued.
func (b *Service) ReplacePaymentMethods(
	ctx context.Context, id string, methods []commonwire.PaymentMethod,
) (commonwire.Contract, error) {
	return b.changeContract(ctx, id, func(t *txn, c *contract) error {
		if c.hasEnded() {
			return wire.Conflict("The contract has ended.")
		}
		c.Methods, c.UpdatedAt = slices.Clone(methods), t.now
		t.put(c)
		return nil
	})
}

// ApproveContract accepts a contract for the calling party, or resumes a paused contract.
func (b *Service) ApproveContract(ctx context.Context, id string) (commonwire.Contract, error) {
	return b.changeContract(ctx, id, func(t *txn, c *contract) error {
		switch {
		case c.hasEnded():
			return wire.Conflict("The contract has ended.")
		case c.Status == commonwire.ContractStatusPaused:
			c.move(commonwire.ContractStatusActive, t.now)
		case !c.pending(): // already in force
		case c.Client.same(t.me):
			c.accept(&c.ClientAccepted, t.now)
		default:
			c.accept(&c.ContractorAccepted, t.now)
		}
		t.put(c)
		return nil
	})
}

// PauseContract stops a contract from invoicing until it is approved again.
func (b *Service) PauseContract(ctx context.Context, id string) (commonwire.Contract, error) {
	return b.changeContract(ctx, id, func(t *txn, c *contract) error {
		switch c.Status {
		case commonwire.ContractStatusActive:
			c.move(commonwire.ContractStatusPaused, t.now)
			t.put(c)
			return nil
		case commonwire.ContractStatusPaused:
			return nil
		default:
			return wire.Conflict("Only an active contract can be paused.")
		}
	})
}

// DeleteContract deletes an offer, and cancels a contract that is in force.
func (b *Service) DeleteContract(ctx context.Context, id string) error {
	_, err := b.changeContract(ctx, id, func(t *txn, c *contract) error {
		switch {
		case c.pending():
			t.contracts.Delete(c.ID)
			t.contractOrder = slices.DeleteFunc(t.contractOrder, func(other *contract) bool { return other == c })
		case c.Status == commonwire.ContractStatusCompleted:
			return wire.Conflict("The contract is completed.")
		case c.Status != commonwire.ContractStatusCancelled:
			c.move(commonwire.ContractStatusCancelled, t.now)
			t.put(c)
		}
		return nil
	})
	return err
}

// templates are the templates of contracts, one for each type.
var templates = []appwire.ContractTemplate{
	template(commonwire.ContractTypeService, "Service agreement", "amount", "currency", "scopeDescription"),
	template(commonwire.ContractTypeEmployment, "Employment contract", "amount", "currency", "jobTitle",
		"scopeDescription"),
	template(commonwire.ContractTypeNDA, "Non-disclosure agreement", "scopeDescription"),
	template(commonwire.ContractTypeContractor, "Contractor agreement", "amount", "currency", "jobTitle",
		"scopeDescription"),
	template(commonwire.ContractTypeDefaultContractor, "Standard contractor agreement", "amount", "currency",
		"jobTitle", "scopeDescription"),
	template(commonwire.ContractTypeCustom, "Custom contract", "amount", "currency", "scopeDescription"),
	template(commonwire.ContractTypeVendor, "Vendor agreement", "amount", "currency", "scopeDescription"),
	template(commonwire.ContractTypeMilestone, "Milestone agreement", "amount", "currency", "scopeDescription"),
	template(commonwire.ContractTypeMSA, "Master service agreement", "scopeDescription"),
	template(commonwire.ContractTypeOther, "Agreement", "amount", "currency", "scopeDescription"),
}

func template(kind commonwire.ContractType, name string, fields ...string) appwire.ContractTemplate {
	return appwire.ContractTemplate{ID: "template_" + string(kind), Name: name, Type: kind, Fields: fields}
}

// Templates lists the templates that contracts can be created from.
func (b *Service) Templates() appwire.ContractTemplateList {
	total := len(templates)
	return appwire.ContractTemplateList{Items: append([]appwire.ContractTemplate(nil), templates...), Total: &total}
}

// Preview returns the final fields and the text of a contract.
func (b *Service) Preview(ctx context.Context, id string) (appwire.ContractPreview, error) {
	t := b.begin(ctx)
	defer b.commit()
	contract, err := t.contract(id)
	if err != nil {
		return appwire.ContractPreview{}, err
	}
	fields := fieldsOf(contract.Terms.Fields)
	fields["clientName"], fields["contractorName"] = contract.Client.name(), contract.Contractor.name()
	return appwire.ContractPreview{Fields: fields, Text: contract.text()}, nil
}

// fieldsOf returns the values of a contract's fields, without empty ones.
func fieldsOf(fields appwire.ContractFields) commonwire.OpenObject {
	values := commonwire.OpenObject{}
	if fields.Amount.IsPositive() {
		values["amount"] = fields.Amount.String()
	}
	for name, value := range map[string]string{
		"currency": string(fields.Currency), "jobTitle": fields.JobTitle, "scopeDescription": fields.ScopeDescription,
	} {
		if value != "" {
			values[name] = value
		}
	}
	return values
}

// text returns the text of the contract.
func (c *contract) text() string {
	paragraphs := []string{
		c.title(),
		fmt.Sprintf("Between %s (client) and %s (contractor).", c.Client.name(), c.Contractor.name()),
	}
	add := func(condition bool, format string, arguments ...any) {
		if condition {
			paragraphs = append(paragraphs, fmt.Sprintf(format, arguments...))
		}
	}
	fields := c.Terms.Fields
	add(fields.JobTitle != "", "The contractor works as %s.", fields.JobTitle)
	add(fields.ScopeDescription != "", "Scope: %s", fields.ScopeDescription)
	add(fields.Amount.IsPositive(), "The client pays %s %s %s.", fields.Amount, fields.Currency,
		cmp.Or(c.Terms.Period, "for each period that is invoiced"))
	add(!c.Terms.ActivationAt.IsZero(), "It takes effect on %s.", c.Terms.ActivationAt.Format("2 January 2006"))
	add(!c.ExpirationAt.IsZero(), "It ends on %s.", c.ExpirationAt.Format("2 January 2006"))
	return strings.Join(paragraphs, "\n\n")
}

// title returns the contract's label, or the name of its type.
func (c *contract) title() string {
	for _, template := range templates {
		if template.Type == c.Terms.Type {
			return cmp.Or(c.Terms.Label, template.Name)
		}
	}
	return cmp.Or(c.Terms.Label, string(c.Terms.Type))
}
