package sandbox_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/sandbox"
)

// verification is what GET /client/kyb answers: the status and the fields that are outstanding.
func (s *session) verification() (status string, outstanding []string) {
	s.t.Helper()
	answered := s.must(http.StatusOK, "GET", "/client/kyb", nil)
	for _, item := range answered.body.at("requirements").([]any) {
		outstanding = append(outstanding, object(item.(map[string]any)).text("field"))
	}
	return answered.body.text("status"), outstanding
}

// verify completes a verification and lets the review pass.
func (s *session) verify() {
	s.t.Helper()
	s.must(http.StatusOK, "PUT", "/client/kyb", object{
		"applicant": object{"legalName": "Acme Ltd", "country": "DE"}, "documentIds": []string{"doc_1"},
	})
	s.must(http.StatusOK, "POST", "/client/kyb/complete", nil)
	s.host.Advance(time.Duration(s.host.Settings().KYBDecisionAfter))
}

// Rule: verification.completed-explicitly, idempotency.verification, status.409
func TestVerificationIsSavedInspectedAndThenCompleted(t *testing.T) {
	acme := newPayer(t)
	save := func(body object) { acme.must(http.StatusOK, "PUT", "/client/kyb", body) }

	status, outstanding := acme.verification()
	assert.Equal(t, "not_started", status)
	assert.Equal(t, []string{"applicant.legalName", "applicant.country", "documentIds"}, outstanding)
	refused(t, http.StatusConflict, "conflict", acme.call("POST", "/client/kyb/complete", nil))
	save(object{})
	status, _ = acme.verification()
	assert.Equal(t, "not_started", status, "nothing was saved")

	save(object{"applicant": object{"legalName": "Acme Ltd", "country": "Germany"}})
	status, outstanding = acme.verification()
	assert.Equal(t, "pending", status)
	assert.Equal(t, []string{"applicant.country", "documentIds"}, outstanding, "a country is its code")

	save(object{"applicant": object{"country": "DE"}})
	save(object{"documentIds": []string{"doc_1", "doc_1"}})
	_, outstanding = acme.verification()
	assert.Empty(t, outstanding, "what was saved before is kept")

	submitted := acme.must(http.StatusOK, "POST", "/client/kyb/complete", nil)
	assert.Equal(t, "under_review", submitted.body.text("status"))
	again := acme.must(http.StatusOK, "POST", "/client/kyb/complete", nil)
	assert.Equal(t, submitted.body, again.body, "completing is its own natural key")

	acme.host.Advance(time.Duration(acme.host.Settings().KYBDecisionAfter))
	status, _ = acme.verification()
	assert.Equal(t, "approved", status)
	decided := acme.must(http.StatusOK, "POST", "/client/kyb/complete", nil)
	assert.Equal(t, object{"status": "approved", "snapshotId": submitted.body.text("snapshotId")}, decided.body)
}

// Rule: verification.snapshot
func TestEditingChangesNoSubmission(t *testing.T) {
	acme := newPayer(t)
	acme.verify()
	first := acme.must(http.StatusOK, "POST", "/client/kyb/complete", nil).body.text("snapshotId")

	acme.must(http.StatusOK, "PUT", "/client/kyb", object{"applicant": object{"legalName": nil}})
	status, outstanding := acme.verification()
	assert.Equal(t, "approved", status, "what was approved stays so")
	assert.Equal(t, []string{"applicant.legalName"}, outstanding, "null takes a member out")
	refused(t, http.StatusConflict, "conflict", acme.call("POST", "/client/kyb/complete", nil))

	require.NoError(t, acme.host.Configure(func(s *sandbox.Settings) { s.KYBDecision = sandbox.KYBDecisionReject }))
	acme.must(http.StatusOK, "PUT", "/client/kyb", object{"applicant": object{"legalName": "Acme International Ltd"}})
	second := acme.must(http.StatusOK, "POST", "/client/kyb/complete", nil)
	assert.Equal(t, "under_review", second.body.text("status"))
	assert.NotEqual(t, first, second.body.text("snapshotId"))
	acme.host.Advance(time.Minute)
	status, _ = acme.verification()
	assert.Equal(t, "rejected", status)
	require.NoError(t, acme.host.Configure(func(s *sandbox.Settings) { s.KYBDecision = sandbox.KYBDecisionApprove }))
	status, _ = acme.verification()
	assert.Equal(t, "rejected", status, "a decision that was made stays")
}

// Rule: error.location
func TestVerificationIsAClients(t *testing.T) {
	me := newWorld(t).login()
	for _, call := range []struct {
		method, path string
		body         any
	}{{"GET", "/client/kyb", nil}, {"PUT", "/client/kyb", object{}}, {"POST", "/client/kyb/complete", nil}} {
		got := me.call(call.method, call.path, call.body)
		refused(t, http.StatusUnprocessableEntity, "validation_failed", got)
		assert.Equal(t, map[string]string{"X-Service-Account": "missing"}, got.fields())
		assert.Equal(t, "header", got.body.text("error", "details", "location"))
	}
}
