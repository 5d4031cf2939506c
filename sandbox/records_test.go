package sandbox_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/sandbox"
)

// Whatever a caller can make the host keep is counted, and goes on to be refused in the same words.
func TestEverythingThatIsKeptIsCounted(t *testing.T) {
	p := newPayer(t, sandbox.WithControl())
	w := p.world
	app, reference := w.app(), w.reference()
	app.fund(1)
	contact := app.wallet("base", "USDC")
	deal := p.deal("deal-1", nil).body.text("id")
	waiting := w.challenge(w.email)
	for name, add := range map[string]func() reply{
		"client": func() reply { return p.as("").call("POST", "/clients", object{"email": "new@example.com"}) },
		"contact": func() reply {
			return p.call("POST", "/contacts",
				object{"crypto": object{"chain": "base", "token": "USDC", "address": "0x1"}})
		},
		"payout": func() reply { return p.book("one-more", "1") },
		"payin":  func() reply { return p.payin(object{"amount": "77"}) },
		"deposit": func() reply {
			return p.call("POST", "/sandbox/deposits", object{"amount": "1.5", "currency": "USDC"})
		},
		"deal": func() reply { return p.escrow("deal-2", nil) },
		"approval": func() reply {
			return p.call("POST", "/escrow/"+deal+"/actions", object{"type": "approve"}, "Idempotency-Key", "deal-1")
		},
		"applicant": func() reply {
			return p.call("PUT", "/client/kyb", object{"applicant": object{"legalName": "Acme", "country": "DE"}})
		},
		"challenge and token": func() reply { return w.token(waiting, w.key) },
		"access token": func() reply {
			return w.call("POST", "/dapi/v1/auth/refresh", object{"refreshToken": p.refresh})
		},
		"app contact": func() reply {
			return app.call("POST", "/user/contact",
				object{"account": object{"walletAddress": "0x1", "chainId": "base", "currency": "USDC"}})
		},
		"transfer": func() reply {
			return app.call("POST", "/apps/transfer", object{"contactId": contact, "amount": 1})
		},
		"quote": func() reply {
			return app.call("POST", "/balance/payout/quote", object{"contactId": contact, "amount": "1"})
		},
		"document": func() reply { return app.call("POST", "/documents/upload", object{"base64": "AAAA"}) },
		"contract": func() reply { return app.call("POST", contracts, newContract()) },
		"card":     func() reply { return app.call("POST", "/cards", object{}) },
		"event": func() reply {
			return reference.call("POST", "/api/v1/webhook/bank-one",
				object{"eventType": "x", "eventPayload": object{}, "entityId": "1", "entityType": "x",
					"createdAt": "x"})
		},
		"developer key": func() reply {
			return w.call("POST", "/_host/keys", object{"email": w.email, "publicKey": newSigner(t).public(t)})
		},
		"app key": func() reply { return w.call("POST", "/_host/app-keys", object{}) },
		"fault": func() reply {
			return w.call("POST", "/_host/faults", object{"path": "/chains", "fault": object{"kind": "drop_before"}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			before := w.host.Records()
			require.NoError(t, w.host.Configure(func(s *sandbox.Settings) { s.MaxRecords = before }))
			full := add()
			assert.Equal(t, http.StatusConflict, full.status, "%s", full.raw)
			assert.Equal(t, "conflict", full.slug())
			assert.Contains(t, full.body.text("error", "message"), "maxRecords")
			assert.Equal(t, before, w.host.Records())

			require.NoError(t, w.host.Configure(func(s *sandbox.Settings) { s.MaxRecords = sandbox.DefaultMaxRecords }))
			added := add()
			assert.Less(t, added.status, 300, "%s", added.raw)
			assert.Greater(t, w.host.Records(), before)
		})
	}
}

func TestAFullHostStillReadsDeletesAndIsMended(t *testing.T) {
	p := newPayer(t, sandbox.WithControl())
	w := p.world
	require.Equal(t, http.StatusOK, w.call("PUT", "/_host/settings", object{"maxRecords": 1}).status)
	refused(t, http.StatusConflict, "conflict",
		p.call("POST", "/payouts", object{"contactId": p.contact, "amount": "1", "currency": "USDC"}))
	refused(t, http.StatusUnauthorized, "unauthenticated", w.call("POST", "/dapi/v1/payouts", object{}))
	p.must(http.StatusOK, "GET", "/transactions", nil)
	p.must(http.StatusNoContent, "DELETE", "/contacts/"+p.contact, nil)
	assert.Equal(t, "invalid_request", w.call("PUT", "/_host/settings", object{"maxRecords": 0}).slug())
	require.Equal(t, http.StatusOK, w.call("PUT", "/_host/settings", object{"maxRecords": 10_000}).status)
	p.walletContact()
	w.host.Reset()
	assert.Less(t, w.host.Records(), 10)
}
