package sandbox_test

import (
	"crypto/ecdsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/sandbox"
)

// A caller without any SDK onboards: it logs in, makes a client, funds it, saves
// two contacts, and pays both.
// Rule: login.two-steps, session.prepare-sign-confirm, client.ready, idempotency.client, ledger.progress
// Rule: idempotency.echo
func TestOnboardingOverPlainHTTP(t *testing.T) {
	w := newWorld(t)
	me := w.login()

	created := me.must(http.StatusCreated, "POST", "/clients",
		object{"email": "acme@example.com", "type": "business", "entityName": "Acme"})
	assert.Equal(t, "pending", created.body.text("status"))
	assert.Nil(t, created.body.at("baseSmartWallet"))
	again := me.must(http.StatusOK, "POST", "/clients", object{"email": "acme@example.com"})
	assert.Equal(t, "true", again.header.Get("Idempotency-Replayed"))
	assert.Equal(t, created.body.text("id"), again.body.text("id"))

	acme := me.as(created.body.text("id"))
	refused(t, http.StatusConflict, "wallet_not_linked",
		acme.call("POST", "/sandbox/deposits", object{"amount": "1", "currency": "USDC"}))
	w.host.Advance(time.Duration(w.host.Settings().ClientReadyAfter))
	ready := me.must(http.StatusOK, "GET", "/clients/"+acme.account, nil)
	require.Equal(t, "ready", ready.body.text("status"), "a client becomes ready by itself")

	deposit := acme.must(http.StatusCreated, "POST", "/sandbox/deposits", object{"amount": "100", "currency": "USDC"},
		"Idempotency-Key", "funding-1")
	assert.Equal(t, "in", deposit.body.text("direction"))

	wallet := acme.must(http.StatusCreated, "POST", "/contacts", object{
		"name": "Bob's wallet",
		"account": object{"accountType": "onchain", "chainId": "base", "currency": "USDC",
			"walletAddress": "0x52908400098527886E0F7030069857D2E4169EE7"},
	})
	bank := acme.must(http.StatusCreated, "POST", "/contacts", object{
		"name": "Bob",
		"account": object{"accountType": "sepa", "iban": "DE89370400440532013000", "accountHolderName": "Bob Example",
			"currency": "EUR"},
	})
	capable := acme.must(http.StatusOK, "GET", "/contacts/"+bank.body.text("id")+"/capabilities", nil)
	assert.Empty(t, capable.body.at("blockers"))

	for key, contact := range map[string]reply{"invoice-1": wallet, "invoice-2": bank} {
		booked := acme.must(http.StatusCreated, "POST", "/payouts",
			object{"contactId": contact.body.text("id"), "amount": "12.5", "currency": "USDC"}, "Idempotency-Key", key)
		assert.Equal(t, "awaiting_approval", booked.body.text("status"))
		assert.Equal(t, key, booked.body.text("idempotencyKey"))
		checkApproval(t, acme.account, contact, booked)

		confirmed := acme.confirm(booked)
		require.Equal(t, http.StatusOK, confirmed.status, "%s", confirmed.raw)
		w.host.Advance(2 * time.Duration(w.host.Settings().PayoutStepAfter))
		paid := acme.must(http.StatusOK, "GET", "/payouts/"+booked.body.text("id"), nil)
		require.Equal(t, "completed", paid.body.text("status"), "a confirmed payout completes by itself")
		refused(t, http.StatusConflict, "already_funded", acme.confirm(booked))
	}

	page := acme.must(http.StatusOK, "GET", "/transactions", nil)
	items := page.body.at("items").([]any)
	require.Len(t, items, 3, "%s", page.raw)
	assert.Equal(t, "deposit", object(items[2].(map[string]any)).text("type"), "newest first")

	for currency, sum := range w.host.Ledger().Sums {
		assert.True(t, sum.IsZero(), "%s sums to %s", currency, sum)
	}
}

// checkApproval holds the payload against what was asked for, as the wire page
// shows it.
func checkApproval(t *testing.T, account string, contact, booked reply) {
	t.Helper()
	var payload object
	require.NoError(t, json.Unmarshal(bytesOf(t, booked.body.text("approval", "payload")), &payload))
	assert.NotEmpty(t, payload.text("nonce"))
	delete(payload, "nonce")
	assert.Equal(t, object{
		"approvalId": booked.body.text("approval", "id"), "operation": "payout.fund",
		"resourceId": booked.body.text("id"), "account": account, "amount": "12.5", "currency": "USDC",
		"destination": map[string]any{"contactId": contact.body.text("id")},
		"expiresAt":   booked.body.text("approval", "expiresAt"),
	}, payload)
}

func TestTheKeyFileOfTheCredentialsLogsIn(t *testing.T) {
	w := newWorld(t)
	credentials := w.host.Credentials()
	path := filepath.Join(t.TempDir(), "developer.pem")
	require.NoError(t, credentials.Key.Save(path))

	text, err := os.ReadFile(path)
	require.NoError(t, err)
	block, _ := pem.Decode(text)
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	require.NoError(t, err)

	me := w.loginAs(credentials.Email, signer{parsed.(*ecdsa.PrivateKey)})
	me.must(http.StatusOK, "GET", "/chains", nil)
}

func TestResetGoesBackToTheFirstState(t *testing.T) {
	w := newWorld(t)
	me := w.login()
	me.readyClient("acme@example.com")
	require.NoError(t, w.host.Configure(func(s *sandbox.Settings) { s.OpaqueLogin = true }))
	armed := w.host.Arm("", "/**", sandbox.Respond(503, "provider_unavailable"))
	before, now := w.host.Credentials(), w.host.Now().Add(-time.Minute) // readyClient let a minute pass

	w.host.Reset()

	assert.Equal(t, before.KeyID, w.host.Credentials().KeyID)
	require.Len(t, w.host.Keys(), 1)
	assert.Equal(t, before.KeyID, w.host.Keys()[0].ID)
	assert.Empty(t, w.host.Requests())
	for _, entry := range w.host.Ledger().Entries {
		assert.Contains(t, []string{"faucet", "outside"}, entry.Account, "nothing but the faucet's own filling")
	}
	assert.Zero(t, armed.Remaining())
	assert.Equal(t, sandbox.DefaultSettings(), w.host.Settings())
	assert.Equal(t, now, w.host.Now())
	refused(t, http.StatusUnauthorized, "unauthenticated", me.call("GET", "/chains", nil))
}
