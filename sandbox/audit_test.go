package sandbox_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/sandbox"
)

func TestAuditCountsPayment(t *testing.T) {
	p := newPayer(t, sandbox.WithAudit(), sandbox.WithRequestLog(0))
	_, seen := p.host.AuditOf(p.account, "invoice-42")
	assert.False(t, seen)
	p.host.Arm("POST", "/payouts", sandbox.DropBefore())
	_, err := p.attempt("POST", "/payouts", object{"contactId": p.contact, "amount": "20", "currency": "USDC"},
		"Idempotency-Key", "invoice-42")
	require.Error(t, err)
	payment, seen := p.host.AuditOf(p.account, "invoice-42")
	assert.True(t, seen)
	assert.Equal(t, sandbox.AuditedPayment{Account: p.account, Key: "invoice-42", Requests: 1, Bodies: 1,
		Approvals: []sandbox.AuditedApproval{}}, payment)

	p.host.Arm("POST", "/payouts", sandbox.ProxyRetry())
	p.host.Arm("POST", "/payouts/{payoutId}/confirm", sandbox.DeliverTwice(0))
	booked := p.book("invoice-42", "20")
	confirmed := p.confirm(booked)
	require.Equal(t, http.StatusOK, confirmed.status)
	refused(t, http.StatusConflict, "funding_in_progress", p.confirm(booked))
	payment, _ = p.host.AuditOf(p.account, "invoice-42")
	digest := sha256.Sum256(bytesOf(t, booked.body.text("approval", "payload")))
	assert.Equal(t, 2, payment.Requests)
	assert.Equal(t, 1, payment.Bodies)
	assert.Equal(t, 2, payment.Confirms)
	assert.Equal(t, []string{booked.body.text("id")}, payment.PayoutIDs)
	assert.Equal(t, []int{1, 0, 0}, []int{payment.Fundings, payment.Settlements, payment.Returns})
	assert.Equal(t, "20", payment.Paid.String())
	assert.Equal(t, "funding", payment.Status)
	require.Len(t, payment.Approvals, 1)
	approval := payment.Approvals[0]
	assert.Equal(t, booked.body.text("approval", "id"), approval.ID)
	assert.Equal(t, hex.EncodeToString(digest[:]), approval.PayloadDigest)
	assert.Equal(t, booked.body.text("contactId"), approval.ContactID)
	assert.Equal(t, "20", approval.DestinationAmount.String())
	assert.True(t, approval.Funded)
	assert.Empty(t, p.host.Requests(), "there is no log")

	require.NoError(t, p.host.MovePayout(booked.body.text("id"), "refunded"))
	p.book("invoice-42", "20.00")
	p.book("invoice-42", "21")
	payment, _ = p.host.AuditOf(p.account, "invoice-42")
	assert.Equal(t, []int{1, 0, 1}, []int{payment.Fundings, payment.Settlements, payment.Returns})
	assert.Equal(t, "20", payment.Returned.String())
	assert.Equal(t, "refunded", payment.Status)
	assert.Equal(t, 3, payment.Bodies)
}

// The audit keeps its counts after the payouts are forgotten, and shows a key that was used for two payouts.
func TestAuditSurvivesForgetting(t *testing.T) {
	p := newPayer(t, sandbox.WithAudit(), sandbox.WithSettings(func(s *sandbox.Settings) {
		s.ForgetFinishedAfter = sandbox.Duration(time.Hour)
	}))
	first := p.book("invoice-42", "20")
	require.Equal(t, http.StatusOK, p.confirm(first).status)
	p.host.Advance(8 * 24 * time.Hour)
	p.session = p.loginAs(p.email, p.key).as(p.account)
	refused(t, http.StatusNotFound, "not_found", p.call("GET", "/payouts/"+first.body.text("id"), nil))
	second := p.book("invoice-42", "20")
	require.Equal(t, http.StatusOK, p.confirm(second).status)
	p.step()
	p.step()
	p.must(http.StatusOK, "GET", "/payouts/"+second.body.text("id"), nil)
	payment, _ := p.host.AuditOf(p.account, "invoice-42")
	assert.Equal(t, []string{first.body.text("id"), second.body.text("id")}, payment.PayoutIDs)
	assert.Equal(t, []int{2, 2, 0}, []int{payment.Fundings, payment.Settlements, payment.Returns})
	assert.Equal(t, "40", payment.Paid.String())
	assert.Equal(t, "completed", payment.Status)

	p.host.Reset()
	assert.Empty(t, slices.Collect(p.host.Audit()))
}

// A signed approval is counted also if the host refuses it, without the price of a later approval.
func TestAuditCountsRefusedConfirms(t *testing.T) {
	p := newPayer(t, sandbox.WithAudit())
	poor := p.book("too-much", "100.000001")
	refused(t, http.StatusConflict, "payout_not_fundable", p.confirm(poor))
	wrong := p.book("wrong", "1")
	refused(t, http.StatusForbidden, "key_not_registered",
		(&session{world: p.world, key: newSigner(t), access: p.access,
			account: p.account}).confirm(wrong))
	payment, _ := p.host.AuditOf(p.account, "too-much")
	require.Len(t, payment.Approvals, 1)
	assert.False(t, payment.Approvals[0].Funded)
	assert.Zero(t, payment.Fundings)
	payment, _ = p.host.AuditOf(p.account, "wrong")
	assert.Empty(t, payment.Approvals)
	assert.Equal(t, 1, payment.Confirms)
}

func TestAuditControl(t *testing.T) {
	p := newPayer(t, sandbox.WithAudit(), sandbox.WithControl(), sandbox.WithResponseValidation(nil))
	const payments = 1003
	for i := range payments {
		p.book(fmt.Sprint("k", i), "1")
	}
	assert.Len(t, slices.Collect(p.host.Audit()), payments)
	first := p.world.call("GET", "/_host/audit", nil)
	assert.Len(t, first.body.at("items"), 1000)
	rest := p.world.call("GET", fmt.Sprint("/_host/audit?after=", first.body.at("next")), nil)
	assert.Len(t, rest.body.at("items"), 3)
	assert.EqualValues(t, payments, rest.body.at("next"))
	one := p.world.call("GET", "/_host/audit/"+p.account+"/k7", nil)
	inProcess, _ := p.host.AuditOf(p.account, "k7")
	text, err := json.Marshal(inProcess)
	require.NoError(t, err)
	assert.JSONEq(t, string(text), string(one.raw))
	assert.Equal(t, http.StatusNotFound, p.world.call("GET", "/_host/audit/self/k7", nil).status)
	assert.Equal(t, "greater_than_equal", p.world.call("GET", "/_host/audit?after=-1", nil).fields()["after"])
	for payment := range p.host.Audit() {
		assert.Equal(t, "k0", payment.Key)
		break
	}
}

func TestAuditPanicsWithoutWithAudit(t *testing.T) {
	w := newWorld(t, sandbox.WithControl())
	assert.Panics(t, func() { w.host.Audit() })
	assert.Panics(t, func() { w.host.AuditOf("self", "k") })
	assert.Equal(t, "conflict", w.call("GET", "/_host/audit", nil).slug())
	assert.Equal(t, "conflict", w.call("GET", "/_host/audit/self/k", nil).slug())
}

// Rule: rate.writes
func TestAuditCountsRateLimitedRequests(t *testing.T) {
	p := newPayer(t, sandbox.WithAudit(), sandbox.WithRateLimits())
	var last reply
	for range 130 {
		last = p.book("invoice-42", "1")
	}
	refused(t, http.StatusTooManyRequests, "rate_limited", last)
	payment, _ := p.host.AuditOf(p.account, "invoice-42")
	assert.Equal(t, 130, payment.Requests)
	assert.Equal(t, 1, payment.Bodies)
}
