package billing

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/appwire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/commonwire"
)

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
func (b *Billing) Templates() appwire.ContractTemplateList {
	total := len(templates)
	return appwire.ContractTemplateList{Items: append([]appwire.ContractTemplate(nil), templates...), Total: &total}
}

// Preview returns the final fields and the text of a contract.
func (b *Billing) Preview(ctx context.Context, id string) (appwire.ContractPreview, error) {
	t := b.enter(ctx)
	defer b.leave()
	found, err := t.contract(id)
	if err != nil {
		return appwire.ContractPreview{}, err
	}
	fields := fieldsOf(found.Terms.Fields)
	fields["clientName"], fields["contractorName"] = found.Client.name(), found.Contractor.name()
	return appwire.ContractPreview{Fields: fields, Text: found.text()}, nil
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
