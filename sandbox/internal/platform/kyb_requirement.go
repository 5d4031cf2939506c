package platform

import (
	"cmp"
	"strings"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/commonwire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/platformwire"
)

// The host's words for what a verification lacks. The description does not show the service's own. They are not slugs.
const (
	requiredApplicantField  = "applicant_field_missing"
	requiredApplicantFormat = "applicant_field_invalid"
	requiredDocument        = "document_missing"
)

// outstanding lists what the applicant still lacks: a name for its legal form, its country, and one document.
func (h *holder) outstanding() []wire.Blocker {
	var list []wire.Blocker
	missing := func(field, message string) {
		list = append(list, wire.Blocker{Code: requiredApplicantField, Message: message, Field: "applicant." + field})
	}
	business := h.KYB.says("legalName", "entityName") != ""
	first, last := h.KYB.says("firstName") != "", h.KYB.says("lastName") != ""
	individual := h.Client.Type == platformwire.ClientTypeIndividual || h.Client.Type == "" && !business &&
		(first || last)
	if !individual && !business {
		missing("legalName", "A business needs its registered name.")
	}
	if individual && !first {
		missing("firstName", "A person needs a first name.")
	}
	if individual && !last {
		missing("lastName", "A person needs a last name.")
	}
	switch country := h.KYB.says("country"); {
	case country == "":
		missing("country", "The country of residency or registration is needed.")
	case !isCountry(country):
		list = append(list, wire.Blocker{
			Code: requiredApplicantFormat, Message: "A country is its ISO 3166-1 alpha-2 code, such as DE.",
			Field: "applicant.country",
		})
	}
	if len(h.KYB.Documents) == 0 {
		list = append(list, wire.Blocker{Code: requiredDocument, Message: "At least one document is needed.",
			Field: "documentIds"})
	}
	return list
}

// says returns the first text that the applicant has under one of the names.
func (v *verification) says(names ...string) string {
	var found string
	for _, name := range names {
		text, _ := v.Applicant[name].(string)
		found = cmp.Or(found, strings.TrimSpace(text))
	}
	return found
}

// unverified lists what a client needs before it can have rails: the status of its verification, and what that lacks.
// The integrator's own account is verified in the service's application.
func (t *turn) unverified(h *holder) []wire.Blocker {
	if !h.isClient() {
		return nil
	}
	blocked := func(code, message string) []wire.Blocker {
		return append([]wire.Blocker{{Code: code, Message: message}}, h.outstanding()...)
	}
	switch t.kybStatus(h) {
	case commonwire.KYCStatusApproved:
		return nil
	case commonwire.KYCStatusUnderReview:
		return blocked("verification_under_review", "The client's verification is under review.")
	case commonwire.KYCStatusRejected:
		return blocked("verification_rejected", "The client's verification was rejected.")
	default:
		return blocked("verification_not_completed", "The client's verification was not completed.")
	}
}
