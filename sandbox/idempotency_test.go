package sandbox_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/sandbox"
)

// The key of a bank payout identifies the booking and its price. The key of a wallet payout is part of the payout's id.
// Rule: idempotency.bank-payout, idempotency.wallet-payout
func TestPayoutIdempotencyKey(t *testing.T) {
	p := newPayer(t)
	wallet := p.contact
	p.contact = p.must(http.StatusCreated, "POST", "/contacts", object{"name": "Bob", "account": object{
		"accountType": "sepa", "iban": "DE89370400440532013000"}}).body.text("id")
	first := p.book("invoice-42", "20")
	require.Equal(t, http.StatusCreated, first.status)
	assert.NotContains(t, first.body.text("id"), "invoice-42")
	p.host.Advance(time.Minute)
	again := p.book("invoice-42", "20")
	assert.Equal(t, http.StatusOK, again.status)
	assert.Equal(t, first.body.at("quote"), again.body.at("quote"), "the price, with the time at which it ends")
	assert.Equal(t, first.body, again.body)

	p.contact = wallet
	refused(t, http.StatusConflict, "idempotency_key_reused", p.book("invoice-42", "20"))
	assert.Contains(t, p.book("invoice-43", "20").body.text("id"), "invoice-43")
}

// Terms are compared in one spelling: 5.0 equals 5.
// Rule: idempotency.replay
func TestIdempotencyTermsAreNormalized(t *testing.T) {
	p := newPayer(t)
	first := p.book("invoice-42", "20")
	p.contact = strings.TrimPrefix(p.contact, "ct_")
	assert.Equal(t, first.body, p.book("invoice-42", "+020.0000000").body)

	escrow := p.mustCreateEscrow("escrow-1", object{"approveWithin": "1h"})
	again := p.escrow("escrow-1", object{"payee": strings.ToLower(payee), "amount": "40.0", "approveWithin": "60m"})
	assert.Equal(t, "true", again.header.Get("Idempotency-Replayed"), "%s", again.raw)
	assert.Equal(t, escrow.body, again.body)
}

// A booking may carry a public key and a signature, and the payout shows them.
// Rule: idempotency.replay
func TestBookingAcceptsSignatureAndPublicKey(t *testing.T) {
	p := newPayer(t)
	terms := object{"contactId": p.contact, "amount": "20", "currency": "USDC", "publicKey": "AQID",
		"signature": "BAUG"}
	first := p.must(http.StatusCreated, "POST", "/payouts", terms, "Idempotency-Key", "invoice-42").body
	assert.Equal(t, "AQID", first.text("publicKey"))
	assert.Equal(t, "BAUG", first.text("signature"))
	assert.Equal(t, first, p.call("POST", "/payouts", terms, "Idempotency-Key", "invoice-42").body)

	long := object{"contactId": p.contact, "amount": "20", "currency": "USDC",
		"publicKey": strings.Repeat("A", 516), "signature": strings.Repeat("A", 2052)}
	assert.Equal(t, map[string]string{"publicKey": "string_too_long", "signature": "string_too_long"},
		p.call("POST", "/payouts", long).fields())
}

// Rule: idempotency.scope
func TestIdempotencyKeyScopeIsAccountAndOperation(t *testing.T) {
	p := newPayer(t)
	integrator := p.as("")
	bolt := integrator.readyClient("bolt@example.com")
	created := map[string]bool{}
	for _, account := range []*session{p.session, bolt, integrator} {
		deposit := account.must(http.StatusCreated, "POST", "/sandbox/deposits",
			object{"amount": "30", "currency": "USDC"}, "Idempotency-Key", "key-1")
		payout := account.must(http.StatusCreated, "POST", "/payouts",
			object{"contactId": account.anyContact(), "amount": "20", "currency": "USDC"}, "Idempotency-Key", "key-1")
		escrow := account.mustCreateEscrow("key-1", nil)
		for _, id := range []string{deposit.body.text("id"), payout.body.text("id"), escrow.body.text("id")} {
			assert.False(t, created[id], "%s was answered before", id)
			created[id] = true
		}
	}
}

// anyContact is a contact of the account, new or not.
func (s *session) anyContact() string {
	s.t.Helper()
	return s.call("POST", "/contacts", object{"crypto": object{"chain": "base", "token": "USDC", "address": payee}}).
		body.text("id")
}

// Rule: idempotency.equal-payouts, idempotency.derived, idempotency.echo
func TestEqualPayoutsNeedDifferentKeys(t *testing.T) {
	p := newPayer(t)
	first, second := p.book("", "20"), p.book("", "20")
	assert.Equal(t, http.StatusCreated, first.status)
	assert.Equal(t, http.StatusOK, second.status)
	assert.Equal(t, first.body, second.body, "the same request is the same payout")
	derived := first.body.text("idempotencyKey")
	assert.Regexp(t, `^[A-Za-z0-9._:-]{1,128}$`, derived)
	assert.NotEqual(t, derived, p.book("", "21").body.text("idempotencyKey"), "it is derived from the request")

	one, two := p.book("invoice-1", "20"), p.book("invoice-2", "20")
	assert.Equal(t, http.StatusCreated, one.status)
	assert.Equal(t, http.StatusCreated, two.status)
	assert.NotEqual(t, one.body.text("id"), two.body.text("id"))
	assert.Equal(t, []string{"invoice-1", "invoice-2"},
		[]string{one.body.text("idempotencyKey"), two.body.text("idempotencyKey")})

	escrow := p.call("POST", "/escrow", object{"amount": "5", "currency": "USDC", "payee": payee})
	assert.Equal(t, escrow.body.text("idempotencyKey"), escrow.body.text("action", "idempotencyKey"))
	assert.NotEmpty(t, escrow.body.text("idempotencyKey"))
}

// These routes ignore the key: other terms with the same key do not conflict. The natural key alone identifies the
// resource.
func TestOperationsThatIgnoreIdempotencyKeys(t *testing.T) {
	p := newPayer(t)
	p.verify()
	integrator := p.as("")
	reviewed := newPayer(t) // another client: while a submission is under review, it opens no rails
	reviewed.verify()
	quoted, other := p.payin(nil).body.text("id"), p.payin(object{"amount": "51"}).body.text("id")
	iban := func(iban string) object {
		return object{"account": object{"accountType": "sepa", "iban": iban}}
	}
	for name, c := range map[string]struct {
		who                *session
		method             string
		path, otherPath    string
		terms, otherTerms  any
		first, same, third int
	}{
		"client": { // Rule: idempotency.client
			integrator, "POST", "/clients", "/clients",
			object{"email": "one@example.com"}, object{"email": "two@example.com"},
			201, 200, 201},
		"rail": { // Rule: idempotency.rail
			p.session, "POST", "/banks", "/banks", object{"method": "sepa", "currency": "EUR"},
			object{"method": "ach", "currency": "USD"}, 201, 200, 201},
		"verification": { // Rule: idempotency.verification
			reviewed.session, "PUT", "/client/kyb", "/client/kyb", object{"documentIds": []string{"doc_1"}},
			object{"documentIds": []string{"doc_2"}}, 200, 200, 200},
		"completing": { // Rule: idempotency.verification
			reviewed.session, "POST", "/client/kyb/complete", "/client/kyb/complete", nil, nil, 200, 200, 200},
		"payin": { // Rule: idempotency.payin
			p.session, "POST", "/payins", "/payins", object{"amount": "60", "currency": "USDC", "originChainId": 1},
			object{"amount": "61", "currency": "USDC", "originChainId": 1}, 201, 200, 201},
		"instructions": { // Rule: idempotency.payin
			p.session, "POST", "/payins/" + quoted + "/instructions", "/payins/" + other + "/instructions", nil, nil,
			201, 200, 201},
		"contact": { // Rule: idempotency.contacts
			p.session, "POST", "/contacts", "/contacts", iban("DE89370400440532013000"), iban("GB82WEST12345698765432"),
			201, 200, 201},
	} {
		t.Run(name, func(t *testing.T) {
			first := c.who.must(c.first, c.method, c.path, c.terms, "Idempotency-Key", "key-1")
			same := c.who.must(c.same, c.method, c.path, c.terms)
			assert.Equal(t, first.body.at("id"), same.body.at("id"))
			if c.first == http.StatusCreated {
				assert.Equal(t, "true", same.header.Get("Idempotency-Replayed"))
			}
			third := c.who.must(c.third, c.method, c.otherPath, c.otherTerms, "Idempotency-Key", "key-1")
			if c.first == http.StatusCreated {
				assert.NotEqual(t, first.body, third.body)
			}
		})
	}
	contact := p.call("POST", "/contacts", iban("DE89370400440532013000")).body.text("id")
	for _, name := range []string{"Robert", "Roberta"} { // Rule: idempotency.contacts
		changed := p.must(http.StatusOK, "PATCH", "/contacts/"+contact, object{"name": name}, "Idempotency-Key",
			"key-1")
		assert.Equal(t, name, changed.body.text("name"))
	}
	p.must(http.StatusNoContent, "DELETE", "/contacts/"+contact, nil, "Idempotency-Key", "key-1")
	refused(t, http.StatusNotFound, "not_found", p.call("DELETE", "/contacts/"+contact, nil, "Idempotency-Key",
		"key-1"))
}

// Sandbox routes echo the key of the call, also a derived one.
//
// Rule: idempotency.derived, idempotency.sandbox
func TestSandboxMoneyEchoesIdempotencyKey(t *testing.T) {
	p := newPayer(t)
	booked := p.book("payout-1", "20")
	require.Equal(t, http.StatusOK, p.confirm(booked).status)
	payout := booked.body.text("id")
	for name, c := range map[string]struct {
		path string
		body object
	}{
		"deposit": {"/sandbox/deposits", object{"amount": "5", "currency": "USDC"}},
		"payin":   {"/sandbox/payins/" + p.acceptedPayin().body.text("id") + "/complete", object{}},
		"payout":  {"/sandbox/payouts/" + payout + "/status", object{"status": "processing"}},
	} {
		t.Run(name, func(t *testing.T) {
			first := p.call("POST", c.path, c.body)
			require.Less(t, first.status, 300, "%s", first.raw)
			derived := first.body.text("idempotencyKey")
			assert.Regexp(t, `^[A-Za-z0-9._:-]{1,128}$`, derived)
			assert.NotEqual(t, "payout-1", derived, "it is the key of the call, and not of the payout")
			again := p.call("POST", c.path, c.body)
			assert.Equal(t, "true", again.header.Get("Idempotency-Replayed"))
			assert.Equal(t, derived, again.body.text("idempotencyKey"))
		})
	}
	given := p.must(http.StatusCreated, "POST", "/sandbox/deposits", object{"amount": "5", "currency": "USDC"},
		"Idempotency-Key", "credit-1")
	assert.Equal(t, "credit-1", given.body.text("idempotencyKey"))
	for _, entry := range p.must(http.StatusOK, "GET", "/transactions", nil).items() {
		assert.NotContains(t, entry, "idempotencyKey", "a call has a key, and an entry has none")
	}
	assert.Equal(t, "payout-1", p.must(http.StatusOK, "GET", "/payouts/"+payout, nil).body.text("idempotencyKey"),
		"the payout keeps its own")
}

// Many equal creates at once make one resource: one response is 201, all others are replays.
// Rule: idempotency.replay, idempotency.client, idempotency.rail, idempotency.payin, idempotency.contacts
// Rule: idempotency.derived
func TestConcurrentEqualCreatesMakeOneResource(t *testing.T) {
	p := newPayer(t)
	p.verify()
	integrator, quoted := p.as(""), p.payin(object{"amount": "51"})
	for name, c := range map[string]struct {
		who  *session
		path string
		body object
		key  []string
	}{
		"client": {integrator, "/clients", object{"email": "bolt@example.com"}, nil},
		"rail":   {p.session, "/banks", object{"method": "sepa", "currency": "EUR"}, nil},
		"contact": {p.session, "/contacts",
			object{"account": object{"accountType": "sepa", "iban": "DE89370400440532013000"}}, nil},
		"payin":        {p.session, "/payins", object{"amount": "50", "currency": "USDC", "originChainId": 1}, nil},
		"instructions": {p.session, "/payins/" + quoted.body.text("id") + "/instructions", object{}, nil},
		"payout": {p.session, "/payouts", object{"contactId": p.contact, "amount": "5", "currency": "USDC"},
			[]string{"Idempotency-Key", "key-1"}},
		"payout, no key": {p.session, "/payouts", object{"contactId": p.contact, "amount": "6", "currency": "USDC"},
			nil},
		"escrow": {p.session, "/escrow", object{"amount": "5", "currency": "USDC", "payee": payee},
			[]string{"Idempotency-Key", "key-1"}},
		"deposit": {p.session, "/sandbox/deposits", object{"amount": "5", "currency": "USDC"},
			[]string{"Idempotency-Key", "key-1"}},
		"deposit, no key": {p.session, "/sandbox/deposits", object{"amount": "6", "currency": "USDC"}, nil},
		"arrival of money": {
			p.session, "/sandbox/payins/" + p.acceptedPayin().body.text("id") + "/complete", object{}, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			answered := concurrently(50, func(int) string {
				got := c.who.call("POST", c.path, c.body, c.key...)
				return fmt.Sprint(got.status, " ", got.header.Get("Idempotency-Replayed"))
			})
			first := "201 "
			if strings.HasSuffix(c.path, "/complete") {
				first = "200 "
			}
			assert.Equal(t, map[string]int{first: 1, "200 true": 49}, answered)
		})
	}
	assert.Equal(t, "160.7", p.balance(), "what was there, two deposits, and the payin less its fee")
}

// acceptedPayin is a payin whose payer knows where to pay.
func (p *payer) acceptedPayin() reply {
	p.t.Helper()
	quoted := p.payin(nil)
	require.Equal(p.t, http.StatusCreated, p.instruct(quoted).status)
	return quoted
}

// The chain fails when a payout is confirmed, before or after the funding. A second confirm pays once.
// Rule: status.502
func TestConfirmCanBeRetriedAfterChainFailure(t *testing.T) {
	for name, after := range map[string]bool{"before it funded": false, "after it funded": true} {
		t.Run(name, func(t *testing.T) {
			p := newPayer(t)
			booked := p.book("invoice-42", "20")
			down := sandbox.Respond(http.StatusBadGateway, "chain_unavailable")
			want := http.StatusOK
			if after {
				down, want = down.AfterCommit(), http.StatusConflict
			}
			p.host.Arm("POST", "/payouts/*/confirm", down)
			assert.Equal(t, http.StatusBadGateway, p.confirm(booked).status)
			again := p.confirm(booked)
			assert.Equal(t, want, again.status, "%s", again.raw)
			if after {
				assert.Equal(t, "funding_in_progress", again.slug())
			}
			p.step()
			refused(t, http.StatusConflict, "already_funded", p.confirm(booked))
			assert.Equal(t, "80", p.balance())
		})
	}
}
