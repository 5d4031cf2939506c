package platform

import (
	"cmp"
	"context"
	"crypto/sha256"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/moneymovement/moneymovement-go/sandbox/deployment"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/commonwire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/platformwire"
)

// verification is what was saved about a client, and the last submission. Saving never changes a submission: completing
// submits a snapshot.
type verification struct {
	Applicant map[string]any
	Documents []string

	Snapshot *snapshot // the latest, or nil before the first
}

// snapshot is the content of one submission.
type snapshot struct {
	ID      string
	Content fingerprint // of the applicant and the documents
	Decided time.Time   // when the review ends
	Status  commonwire.KYCStatus
}

// maxKYBDocuments is the maximum number of documents of a verification, as many as one save may name.
const maxKYBDocuments = 50

// GetKYB returns the verification status and what is still missing.
func (p *Platform) GetKYB(ctx context.Context) (wire.Response, error) {
	t := p.begin()
	defer p.commit()
	h, err := t.clientToVerify(wire.CallerOf(ctx))
	if err != nil {
		return wire.Response{}, err
	}
	return t.kybResponse(h), nil
}

// SaveKYB adds to the saved information. Members of the applicant replace members with the same name, null deletes a
// member, and documents are added. It submits nothing, and does not change what was submitted.
func (p *Platform) SaveKYB(ctx context.Context, body platformwire.KYBInformation) (wire.Response, error) {
	t := p.begin()
	defer p.commit()
	h, err := t.clientToVerify(wire.CallerOf(ctx))
	if err != nil {
		return wire.Response{}, err
	}
	documents := slices.Clone(h.KYB.Documents)
	for _, id := range body.DocumentIds {
		if !slices.Contains(documents, id) {
			documents = append(documents, id)
		}
	}
	if len(documents) > maxKYBDocuments {
		return wire.Response{},
			wire.InvalidField("documentIds", "too_long", "A verification holds at most 50 documents.")
	}
	h.KYB.Documents = documents
	if h.KYB.Applicant == nil {
		h.KYB.Applicant = map[string]any{}
	}
	before := len(h.KYB.Applicant)
	maps.Copy(h.KYB.Applicant, body.Applicant)
	maps.DeleteFunc(h.KYB.Applicant, func(_ string, value any) bool { return value == nil })
	t.applicantFields += len(h.KYB.Applicant) - before
	t.store.holders.Put(h)
	return t.kybResponse(h), nil
}

// CompleteKYB submits a snapshot of the saved information. The same content again is the same submission. Changed
// content is a new submission with its own review.
func (p *Platform) CompleteKYB(ctx context.Context) (wire.Response, error) {
	t := p.begin()
	defer p.commit()
	h, err := t.clientToVerify(wire.CallerOf(ctx))
	if err != nil {
		return wire.Response{}, err
	}
	if len(h.outstanding()) > 0 {
		return wire.Response{}, wire.Conflict("Requirements are outstanding; GET /client/kyb lists them.")
	}
	content, err := h.KYB.content()
	if err != nil {
		return wire.Response{}, err
	}
	if h.KYB.Snapshot == nil || h.KYB.Snapshot.Content != content {
		h.KYB.Snapshot = &snapshot{
			ID:      newID("kybs_"),
			Content: content,
			Decided: t.now.Add(time.Duration(t.settings.KYBDecisionAfter)),
			Status:  commonwire.KYCStatusUnderReview,
		}
		t.store.holders.Put(h)
	}
	return wire.OK(platformwire.KYBSubmission{Status: t.kybStatus(h), SnapshotID: h.KYB.Snapshot.ID}).Lean(), nil
}

// clientToVerify returns the client to verify. The integrator's own account is verified in the service's application,
// so a request without a client is refused.
func (t *txn) clientToVerify(c wire.Caller) (*holder, error) {
	if c.Account == wire.Self {
		return nil, wire.ValidationFailed("header", wire.Field{
			Field: "X-Service-Account", Code: "missing",
			Message: "Verification is for clients: name the client in this header.",
		})
	}
	return t.holderOf(c)
}

// content identifies the content of a submission.
func (v *verification) content() (fingerprint, error) {
	documents := slices.Sorted(slices.Values(v.Documents))
	text, err := json.Marshal([]any{v.Applicant, documents}, json.Deterministic(true))
	if err != nil {
		return fingerprint{}, err
	}
	return sha256.Sum256(text), nil
}

// kybStatus returns the status of the verification: not started, not completed yet, or the status of the latest
// submission.
func (t *txn) kybStatus(h *holder) commonwire.KYCStatus {
	submitted := h.KYB.Snapshot
	switch {
	case submitted == nil && len(h.KYB.Applicant) == 0 && len(h.KYB.Documents) == 0:
		return commonwire.KYCStatusNotStarted
	case submitted == nil:
		return commonwire.KYCStatusPending
	}
	if submitted.Status == commonwire.KYCStatusUnderReview && !t.now.Before(submitted.Decided) {
		decision := commonwire.KYCStatusApproved
		if t.settings.KYBDecision == deployment.KYBDecisionReject {
			decision = commonwire.KYCStatusRejected
		}
		t.decide(h, decision)
	}
	return submitted.Status
}

// decide ends the review of the latest submission.
func (t *txn) decide(h *holder, decision commonwire.KYCStatus) {
	h.KYB.Snapshot.Status = decision
	t.store.holders.Put(h)
}

// checkDecision returns the refusal of a decision, or nil.
func (t *txn) checkDecision(h *holder, decision commonwire.KYCStatus) error {
	from := t.kybStatus(h)
	if !verificationStates.allows(from, decision) {
		return wire.Conflict("The verification does not move from " + string(from) + " to " + string(decision) + ".")
	}
	return nil
}

func (t *txn) kybResponse(h *holder) wire.Response {
	return wire.OK(platformwire.KYB{Status: t.kybStatus(h), Requirements: blockersView(h.outstanding())}).Lean()
}

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
	business := h.KYB.firstText("legalName", "entityName") != ""
	first, last := h.KYB.firstText("firstName") != "", h.KYB.firstText("lastName") != ""
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
	switch country := h.KYB.firstText("country"); {
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

// firstText returns the first text that the applicant has under one of the names.
func (v *verification) firstText(names ...string) string {
	var found string
	for _, name := range names {
		text, _ := v.Applicant[name].(string)
		found = cmp.Or(found, strings.TrimSpace(text))
	}
	return found
}

// verificationBlockers lists what a client needs before it can have rails: the status of its verification, and what
// that lacks. The integrator's own account is verified in the service's application.
func (t *txn) verificationBlockers(h *holder) []wire.Blocker {
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
