package platform

import (
	"slices"
	"strings"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/platformwire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
)

// BankDetails are the details that can be validated before a bank is paid.
type BankDetails struct {
	Kind, Country, IBAN, BIC, RoutingNumber string
}

// Check lists what is wrong with the details. The description does not show the kinds. A kind that is a bank method
// needs the identifiers of that method, as far as the details can have them. Any other kind needs one identifier.
func (d BankDetails) Check() []wire.Field {
	var wrong []wire.Field
	report := func(field, code, message string) {
		wrong = append(wrong, wire.Field{Field: field, Code: code, Message: message})
	}
	given := map[string]string{"iban": d.IBAN, "bic": d.BIC, "routingNumber": d.RoutingNumber}
	route, known := platformwire.CoverageMethods[strings.ToLower(d.Kind)]
	for _, alternatives := range route.Needed() {
		checkable := !slices.ContainsFunc(alternatives, func(field string) bool { _, ok := given[field]; return !ok })
		if checkable && !slices.ContainsFunc(alternatives, func(field string) bool { return given[field] != "" }) {
			report(alternatives[0], "missing", "The bank type needs "+strings.Join(alternatives, " or ")+".")
		}
	}
	if !known && d.IBAN == "" && d.BIC == "" && d.RoutingNumber == "" {
		report("iban", "missing", "Give an IBAN, a BIC or a routing number.")
	}
	if d.Country != "" && !isCountry(d.Country) {
		report("country", "country_form", "A country is an ISO 3166-1 code, such as DE.")
	}
	switch {
	case d.IBAN == "":
	case !validIBAN(d.IBAN):
		report("iban", "iban_checksum", "The IBAN's form or checksum is wrong.")
	case d.Country != "" && !strings.HasPrefix(d.IBAN, d.Country):
		report("iban", "iban_country", "The IBAN belongs to another country.")
	}
	if d.BIC != "" && !bicForm.MatchString(d.BIC) {
		report("bic", "bic_form", "A BIC has 8 or 11 characters.")
	}
	if d.RoutingNumber != "" && (route.Currency == "USD" || d.Country == "US" || !known && d.Country == "") &&
		!validABA(d.RoutingNumber) {
		report("routingNumber", "routing_number_checksum", "The routing number's form or checksum is wrong.")
	}
	return wrong
}
