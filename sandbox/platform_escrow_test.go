package sandbox_test

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/sandbox"
)

// escrow creates an escrow over 40 USDC, or what the change makes of it.
func (s *session) escrow(key string, change object) reply {
	s.t.Helper()
	body := object{"amount": "40", "currency": "USDC", "payee": payee}
	for name, value := range change {
		body[name] = value
	}
	return s.call("POST", "/escrow", body, "Idempotency-Key", key)
}

// escrow creates an escrow that must succeed.
func (s *session) mustCreateEscrow(key string, change object) reply {
	s.t.Helper()
	created := s.escrow(key, change)
	require.Equal(s.t, http.StatusCreated, created.status, "%s", created.raw)
	return created
}

func (s *session) prepare(key string, escrow reply, kind string) reply {
	s.t.Helper()
	return s.call("POST", "/escrow/"+escrow.body.text("id")+"/actions", object{"type": kind}, "Idempotency-Key", key)
}

// act signs the approval of a prepared action and confirms it.
func (s *session) act(escrow reply, action object) reply {
	s.t.Helper()
	return s.call("POST", "/escrow/"+escrow.body.text("id")+"/actions/"+action.text("idempotencyKey")+"/confirm",
		s.signed(action))
}

// signed is the body that confirms an action.
func (s *session) signed(action object) object {
	s.t.Helper()
	return object{
		"approvalId": action.text("approval", "id"), "publicKey": s.key.public(s.t),
		"signature": s.key.sign(s.t, bytesOf(s.t, action.text("approval", "payload"))),
	}
}

// action is what a create call or a prepare call prepared.
func (r reply) action() object {
	action, _ := r.body.at("action").(map[string]any)
	return object(action)
}

func (s *session) sync(escrow reply) reply {
	s.t.Helper()
	return s.must(http.StatusOK, "POST", "/escrow/"+escrow.body.text("id")+"/sync", nil)
}

// held is what the ledger has in an escrow, in USDC.
func (w *world) held(escrow reply) string {
	return w.host.Ledger().Balances[escrow.body.text("id")]["USDC"].String()
}

// Rule: idempotency.escrow, idempotency.escrow-action, idempotency.echo, session.prepare-sign-confirm
func TestEscrowIsApprovedAndReleased(t *testing.T) {
	p := newPayer(t)
	created := p.mustCreateEscrow("escrow-1", nil)
	assert.Equal(t, "pending_approval", created.body.text("status"))
	assert.Equal(t, "escrow-1", created.body.text("idempotencyKey"))
	assert.Equal(t, []any{"approve"}, created.body.at("availableActions"))
	assert.Equal(t, "escrow-1", created.body.text("action", "idempotencyKey"),
		"the raw key, the address in the confirm URL")
	assert.Equal(t, "100", p.balance())

	var payload object
	require.NoError(t, json.Unmarshal(bytesOf(t, created.action().text("approval", "payload")), &payload))
	assert.NotEmpty(t, payload.text("nonce"))
	delete(payload, "nonce")
	assert.Equal(t, object{
		"approvalId": created.action().text("approval", "id"), "operation": "escrow.approve",
		"resourceId": created.body.text("id"), "account": p.account, "amount": "40", "currency": "USDC",
		"destination": map[string]any{"address": payee}, "expiresAt": created.action().text("approval", "expiresAt"),
	}, payload)

	active := p.act(created, created.action())
	require.Equal(t, http.StatusOK, active.status, "%s", active.raw)
	assert.Equal(t, "active", active.body.text("status"), "nobody has read the chain yet, so the confirm does")
	assert.NotEmpty(t, active.body.text("transactionHash"))
	assert.Equal(t, "60", p.balance())
	assert.Equal(t, "40", p.held(created))
	refused(t, http.StatusConflict, "approval_consumed", p.act(created, created.action()))

	release := p.prepare("release-1", created, "release")
	require.Equal(t, http.StatusCreated, release.status, "%s", release.raw)
	assert.Equal(t, "release-1", release.body.text("action", "idempotencyKey"),
		"the raw key, the address in the confirm URL")
	assert.Equal(t, "release", release.body.text("action", "type"))
	assert.Len(t, release.body, 1, "the action is in the answer, not the answer itself")
	assert.Equal(t, http.StatusOK, p.act(created, release.action()).status)
	assert.Equal(t, "0", p.held(created))
	assert.Equal(t, "60", p.balance())
	p.host.Advance(15 * time.Second)
	synced := p.sync(created)
	assert.Equal(t, "released", synced.body.text("status"))
	assert.Equal(t, []any{}, synced.body.at("availableActions"))
	assert.NotEqual(t, active.body.text("transactionHash"), synced.body.text("transactionHash"))
	refused(t, http.StatusConflict, "conflict", p.prepare("refund-1", created, "refund"))
}

// Rule: lifetime.escrow-refresh
func TestEscrowSyncIsThrottledToFifteenSeconds(t *testing.T) {
	p := newPayer(t)
	created := p.mustCreateEscrow("escrow-1", nil)
	assert.Nil(t, created.body.at("syncedAt"))
	first := p.sync(created)
	confirmed := p.act(created, created.action())
	require.Equal(t, http.StatusOK, confirmed.status, "%s", confirmed.raw)
	assert.Equal(t, "60", p.balance(), "the money has moved")

	p.host.Advance(15*time.Second - time.Millisecond)
	stored := p.sync(created)
	assert.Equal(t, first.body, stored.body, "the stored projection")
	assert.Equal(t, "pending_approval", stored.body.text("status"))
	assert.Nil(t, stored.body.at("transactionHash"))

	p.host.Advance(time.Millisecond)
	fresh := p.sync(created)
	assert.Equal(t, "active", fresh.body.text("status"))
	assert.NotEmpty(t, fresh.body.text("transactionHash"))
	assert.NotEqual(t, first.body.text("syncedAt"), fresh.body.text("syncedAt"))
}

// Rule: lifetime.escrow-windows, lifetime.escrow-actions, size.escrow-duration
func TestEscrowWindowsAreConsecutive(t *testing.T) {
	at := func(escrow reply, name string) time.Time {
		parsed, err := time.Parse(time.RFC3339, escrow.body.text(name))
		require.NoError(t, err)
		return parsed
	}
	p := newPayer(t)
	standard := p.mustCreateEscrow("standard", nil)
	assert.Equal(t, time.Hour, at(standard, "approveBy").Sub(at(standard, "createdAt")))
	assert.Equal(t, 14*24*time.Hour, at(standard, "holdUntil").Sub(at(standard, "approveBy")))
	assert.Equal(t, 90*24*time.Hour, at(standard, "refundableUntil").Sub(at(standard, "holdUntil")))

	short := p.mustCreateEscrow("short", object{"approveWithin": "90s", "holdFor": "10m", "refundableFor": "5m"})
	late := p.mustCreateEscrow("late", object{"approveWithin": "90s"})
	require.Equal(t, http.StatusOK, p.act(short, short.action()).status)
	for _, step := range []struct {
		advance   time.Duration
		available []any
	}{
		{0, []any{"release"}},
		{90*time.Second + 10*time.Minute - time.Millisecond, []any{"release"}},
		{time.Millisecond, []any{"refund"}},
		{5*time.Minute - time.Millisecond, []any{"refund"}},
		{time.Millisecond, []any{}},
	} {
		p.host.Advance(step.advance)
		synced := p.sync(short)
		assert.Equal(t, "active", synced.body.text("status"))
		assert.Equal(t, step.available, synced.body.at("availableActions"))
		for _, kind := range []string{"approve", "release", "refund"} {
			want := http.StatusConflict
			if len(step.available) == 1 && step.available[0] == kind {
				want = http.StatusCreated
			}
			assert.Equal(t, want, p.prepare(kind+step.advance.String(), short, kind).status, "%s after %s", kind,
				step.advance)
		}
	}
	expired := p.sync(late)
	assert.Equal(t, "expired", expired.body.text("status"))
	assert.Equal(t, []any{}, expired.body.at("availableActions"))
	refused(t, http.StatusUnprocessableEntity, "validation_failed", p.escrow("none", object{"holdFor": "14 days"}))
}

// Rule: lifetime.escrow-windows, lifetime.escrow-actions
func TestEscrowApprovalWindow(t *testing.T) {
	p := newPayer(t)
	first := p.mustCreateEscrow("escrow-1", object{"approveWithin": "30s"})
	second := p.mustCreateEscrow("escrow-2", object{"approveWithin": "30s"})
	p.host.Advance(30*time.Second - time.Millisecond)
	assert.Equal(t, []any{"approve"}, p.sync(first).body.at("availableActions"))
	require.Equal(t, http.StatusOK, p.act(first, first.action()).status)
	p.host.Advance(time.Millisecond)
	assert.Equal(t, []any{}, p.sync(second).body.at("availableActions"))
	refused(t, http.StatusConflict, "conflict", p.act(second, second.action()))
	assert.Equal(t, "60", p.balance())
}

func TestEscrowRefundReturnsMoney(t *testing.T) {
	p := newPayer(t)
	escrow := p.mustCreateEscrow("escrow-1", object{"approveWithin": "1m", "holdFor": "0s"})
	require.Equal(t, http.StatusOK, p.act(escrow, escrow.action()).status)
	p.host.Advance(time.Minute)
	refund := p.prepare("refund-1", escrow, "refund")
	require.Equal(t, http.StatusCreated, refund.status, "%s", refund.raw)
	back := p.act(escrow, refund.action())
	require.Equal(t, http.StatusOK, back.status, "%s", back.raw)
	assert.Equal(t, "refunded", back.body.text("status"))
	assert.Equal(t, "100", p.balance())

	var directions []string
	for _, item := range p.must(http.StatusOK, "GET", "/transactions?type=escrow", nil).body.at("items").([]any) {
		entry := object(item.(map[string]any))
		assert.Equal(t, escrow.body.text("id"), entry.text("escrowId"))
		directions = append(directions, entry.text("direction"))
	}
	assert.Equal(t, []string{"in", "out"}, directions)
}

func TestEscrowReleaseCreditsPayeeOfTheHost(t *testing.T) {
	p := newPayer(t)
	bolt := p.as("").readyClient("bolt@example.com")
	wallet := p.as("").must(http.StatusOK, "GET", "/clients/"+bolt.account, nil).body.text("baseSmartWallet")
	escrow := p.mustCreateEscrow("escrow-1", object{"payee": wallet})
	require.Equal(t, http.StatusOK, p.act(escrow, escrow.action()).status)
	require.Equal(t, http.StatusOK, p.act(escrow, p.prepare("release-1", escrow, "release").action()).status)
	assert.Equal(t, "40", p.host.Ledger().Balances[bolt.account]["USDC"].String())
	refused(t, http.StatusNotFound, "not_found", bolt.call("POST", "/escrow/"+escrow.body.text("id")+"/sync", nil))
}

// Rule: idempotency.escrow, idempotency.escrow-action, idempotency.replay, idempotency.other-terms
func TestEscrowsAndActionsAreIdempotentByKey(t *testing.T) {
	p := newPayer(t)
	first := p.mustCreateEscrow("escrow-1", nil)
	p.host.Advance(time.Second)
	again := p.escrow("escrow-1", object{"amount": "40.00", "approveWithin": "60m", "holdFor": "336h"})
	assert.Equal(t, http.StatusOK, again.status)
	assert.Equal(t, "true", again.header.Get("Idempotency-Replayed"))
	assert.Equal(t, first.body, again.body, "the first answer")
	for _, change := range []object{{"amount": "41"}, {"holdFor": "15d"}, {"memo": "x"},
		{"payee": "0x1111111111111111111111111111111111111111"}} {
		other := p.escrow("escrow-1", change)
		refused(t, http.StatusConflict, "idempotency_key_reused", other)
		assert.Equal(t, first.body.text("id"), other.body.text("error", "details", "escrowId"))
	}

	prepared := p.prepare("escrow-1", first, "approve")
	assert.Equal(t, http.StatusOK, prepared.status, "the create call's key stands for the approve action")
	assert.Equal(t, "true", prepared.header.Get("Idempotency-Replayed"))
	assert.NotEqual(t, first.action().text("approval", "id"), prepared.action().text("approval", "id"))
	require.Equal(t, http.StatusOK, p.act(first, prepared.action()).status)
	refused(t, http.StatusConflict, "approval_consumed", p.act(first, first.action()))
	done := p.prepare("escrow-1", first, "approve")
	assert.Equal(t, prepared.body, done.body, "a confirmed action answers as it was")

	refused(t, http.StatusConflict, "idempotency_key_reused", p.prepare("escrow-1", first, "release"))
	require.Equal(t, http.StatusCreated, p.prepare("go", first, "release").status)
	second := p.mustCreateEscrow("escrow-2", nil)
	elsewhere := p.prepare("go", second, "approve")
	refused(t, http.StatusConflict, "idempotency_key_reused", elsewhere)
	assert.Equal(t, first.body.text("id"), elsewhere.body.text("error", "details", "escrowId"))
}

// Rule: idempotency.lifetimes
func TestEscrowDerivedKeyReplaysForTwoHours(t *testing.T) {
	p := newPayer(t)
	ask := func() reply {
		return p.call("POST", "/escrow", object{"amount": "40", "currency": "USDC", "payee": payee})
	}
	first := ask()
	require.Equal(t, http.StatusCreated, first.status)
	p.host.Advance(2*time.Hour - time.Second)
	p.relogin()
	assert.Equal(t, first.body, ask().body)
	p.host.Advance(time.Second)
	assert.Equal(t, http.StatusCreated, ask().status)
}

// Rule: lifetime.escrow-approval
func TestEscrowActionApprovalExpiresAfterSixtySeconds(t *testing.T) {
	p := newPayer(t)
	escrow := p.mustCreateEscrow("escrow-1", nil)
	p.host.Advance(60 * time.Second)
	refused(t, http.StatusGone, "approval_expired", p.act(escrow, escrow.action()))
	fresh := p.prepare("escrow-1", escrow, "approve")
	p.host.Advance(60*time.Second - time.Millisecond)
	assert.Equal(t, http.StatusOK, p.act(escrow, fresh.action()).status)
}

func TestEscrowConfirmRefusals(t *testing.T) {
	p := newPayer(t)
	escrow, other := p.mustCreateEscrow("escrow-1", nil), p.mustCreateEscrow("escrow-2", object{"amount": "60.000001"})
	confirm := func(key string, body object) reply {
		return p.call("POST", "/escrow/"+escrow.body.text("id")+"/actions/"+key+"/confirm", body)
	}
	good := p.signed(escrow.action())

	refused(t, http.StatusNotFound, "not_found", confirm("escrow-3", good))
	refused(t, http.StatusConflict, "approval_mismatch", confirm("escrow-1", p.signed(other.action())))
	unsigned := object{"approvalId": good["approvalId"], "publicKey": good["publicKey"],
		"signature": p.key.sign(t, []byte("another message"))}
	refused(t, http.StatusBadRequest, "signature_invalid", confirm("escrow-1", unsigned))
	unregistered := newSigner(t)
	refused(t, http.StatusForbidden, "key_not_registered", confirm("escrow-1", object{
		"approvalId": good["approvalId"], "publicKey": unregistered.public(t),
		"signature": unregistered.sign(t, bytesOf(t, escrow.action().text("approval", "payload"))),
	}))
	p.change(func(s *sandbox.Settings) { s.SigningPolicy = sandbox.SigningPolicyRefuse })
	refused(t, http.StatusForbidden, "signing_policy_refused", confirm("escrow-1", good))
	p.change(func(s *sandbox.Settings) { s.SigningPolicy, s.SignerDetached = sandbox.SigningPolicyAllow, true })
	refused(t, http.StatusConflict, "signer_not_attached", confirm("escrow-1", good))
	refused(t, http.StatusConflict, "signer_not_attached", p.escrow("escrow-3", nil))
	p.change(func(s *sandbox.Settings) { s.SignerDetached = false })
	assert.Equal(t, "100", p.balance(), "a refusal consumes nothing")
	assert.Equal(t, http.StatusOK, confirm("escrow-1", good).status)

	poor := p.act(other, other.action())
	refused(t, http.StatusConflict, "conflict", poor)
	assert.Equal(t, "60", poor.body.text("error", "details", "available"))
}

// After a lost response the caller repeats the call with the same key. The money is held once.
func TestLostResponsesApproveEscrowOnce(t *testing.T) {
	p := newPayer(t)
	p.host.Arm("POST", "/escrow", sandbox.DropAfterCommit())
	_, err := p.attempt("POST", "/escrow", object{"amount": "40", "currency": "USDC", "payee": payee},
		"Idempotency-Key", "escrow-1")
	require.Error(t, err)
	escrow := p.escrow("escrow-1", nil)
	assert.Equal(t, "true", escrow.header.Get("Idempotency-Replayed"))

	p.host.Arm("POST", "/escrow/*/actions/*/confirm", sandbox.DropAfterCommit())
	_, err = p.attempt("POST", "/escrow/"+escrow.body.text("id")+"/actions/escrow-1/confirm", p.signed(escrow.action()))
	require.Error(t, err)
	refused(t, http.StatusConflict, "approval_consumed", p.act(escrow, escrow.action()))
	p.host.Advance(15 * time.Second)
	assert.Equal(t, "active", p.sync(escrow).body.text("status"))
	assert.Equal(t, "60", p.balance())
}

func TestConcurrentEscrowConfirmsMoveMoneyOnce(t *testing.T) {
	p := newPayer(t)
	escrow := p.mustCreateEscrow("escrow-1", nil)
	path, body := "/escrow/"+escrow.body.text("id")+"/actions/escrow-1/confirm", p.signed(escrow.action())
	counted := concurrently(12, func(int) string { return p.call("POST", path, body).slug() })
	assert.Equal(t, map[string]int{"": 1, "approval_consumed": 11}, counted)
	assert.Equal(t, "60", p.balance())
}
