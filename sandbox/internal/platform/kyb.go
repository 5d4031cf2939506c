package platform

import (
	"context"
	"crypto/sha256"
	"maps"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/moneymovement/moneymovement-go/sandbox/deployment"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/caller"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/refuse"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/serve"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/commonwire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/platformwire"
)

// verification is what a client told about itself, and what was submitted of it. Editing never changes a submission:
// completing sends a snapshot. Source: States, Platform objects.
type verification struct {
	applicant map[string]any
	documents []string

	snapshot *snapshot // the latest; nil before the first completion
}

// snapshot is what one completion submitted.
type snapshot struct {
	id      string
	content terms     // of the applicant and the documents
	decided time.Time // when the review ends, or ended
	status  commonwire.KYCStatus
}

// maxKYBDocuments is how many documents a verification holds, as many as one save may name.
const maxKYBDocuments = 50

// GetKYB answers the verification status and what is still outstanding. Source: States, Platform objects.
func (p *Platform) GetKYB(ctx context.Context) (serve.Answer, error) {
	t := p.enter()
	defer p.leave()
	h, err := t.verifiable(caller.From(ctx))
	if err != nil {
		return serve.Answer{}, err
	}
	return t.kybAnswer(h), nil
}

// SaveKYB adds to what is known: members of the applicant replace those of the same name, null takes one out, documents
// are added. It submits nothing, and leaves what was submitted as it is. Source: States, Platform objects.
func (p *Platform) SaveKYB(ctx context.Context, body platformwire.KYBSave) (serve.Answer, error) {
	t := p.enter()
	defer p.leave()
	h, err := t.verifiable(caller.From(ctx))
	if err != nil {
		return serve.Answer{}, err
	}
	documents := slices.Clone(h.kyb.documents)
	for _, id := range body.DocumentIds {
		if !slices.Contains(documents, id) {
			documents = append(documents, id)
		}
	}
	if len(documents) > maxKYBDocuments {
		return serve.Answer{}, refuse.InvalidField("documentIds", "too_long", "A verification holds at most 50 documents.")
	}
	h.kyb.documents = documents
	if h.kyb.applicant == nil {
		h.kyb.applicant = map[string]any{}
	}
	before := len(h.kyb.applicant)
	maps.Copy(h.kyb.applicant, body.Applicant)
	maps.DeleteFunc(h.kyb.applicant, func(_ string, value any) bool { return value == nil })
	t.particulars += len(h.kyb.applicant) - before
	return t.kybAnswer(h), nil
}

// CompleteKYB submits a snapshot of what was saved. The same content again is the same submission; changed content is a
// new one with a review of its own. Source: States, Platform objects; Limits, Idempotency.
func (p *Platform) CompleteKYB(ctx context.Context) (serve.Answer, error) {
	t := p.enter()
	defer p.leave()
	h, err := t.verifiable(caller.From(ctx))
	if err != nil {
		return serve.Answer{}, err
	}
	if len(h.outstanding()) > 0 {
		return serve.Answer{}, refuse.Conflict("Requirements are outstanding; GET /client/kyb names them.")
	}
	content, err := h.kyb.content()
	if err != nil {
		return serve.Answer{}, err
	}
	if h.kyb.snapshot == nil || h.kyb.snapshot.content != content {
		h.kyb.snapshot = &snapshot{
			id:      newID("kybs_"),
			content: content,
			decided: t.now.Add(time.Duration(t.settings.KYBDecisionAfter)),
			status:  commonwire.KYCStatusUnderReview,
		}
	}
	return serve.OK(platformwire.KYBSubmission{Status: t.kybStatus(h), SnapshotID: h.kyb.snapshot.id}).Lean(), nil
}

// verifiable finds the client that is verified. The integrator's own account is verified in the service's application,
// so that without a client there is nothing to act on.
func (t *turn) verifiable(c caller.Caller) (*holder, error) {
	if c.Account == caller.Self {
		return nil, refuse.ValidationFailed("header", refuse.Field{
			Field: "X-Service-Account", Code: "missing", Message: "A verification is a client's, which this header names.",
		})
	}
	return t.holderOf(c)
}

// content identifies what would be submitted.
func (v *verification) content() (terms, error) {
	documents := slices.Sorted(slices.Values(v.documents))
	text, err := json.Marshal([]any{v.applicant, documents}, json.Deterministic(true))
	if err != nil {
		return terms{}, err
	}
	return sha256.Sum256(text), nil
}

// kybStatus is where the verification stands: it has not started, waits to be completed, or is what became of the latest
// submission.
func (t *turn) kybStatus(h *holder) commonwire.KYCStatus {
	submitted := h.kyb.snapshot
	switch {
	case submitted == nil && len(h.kyb.applicant) == 0 && len(h.kyb.documents) == 0:
		return commonwire.KYCStatusNotStarted
	case submitted == nil:
		return commonwire.KYCStatusPending
	}
	if submitted.status == commonwire.KYCStatusUnderReview && !t.now.Before(submitted.decided) {
		submitted.status = commonwire.KYCStatusApproved
		if t.settings.KYBDecision == deployment.KYBDecisionReject {
			submitted.status = commonwire.KYCStatusRejected
		}
	}
	return submitted.status
}

func (t *turn) kybAnswer(h *holder) serve.Answer {
	return serve.OK(platformwire.KYB{Status: t.kybStatus(h), Requirements: blockersView(h.outstanding())}).Lean()
}
