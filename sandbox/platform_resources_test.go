package sandbox_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Rule: resource.payout
func TestPayoutShowsItsBooking(t *testing.T) {
	p := newPayer(t)
	terms := object{
		"contactId": p.contact, "amount": "20", "currency": "USDC", "paymentReference": "Invoice 42",
		"purpose":     "goods",
		"documentIds": []any{"doc_1", "doc_2"}, "publicKey": base64Of(120), "signature": base64Of(96),
		"fromChainId": float64(8453), "toChainId": float64(8453),
	}
	booked := p.must(http.StatusCreated, "POST", "/payouts", terms, "Idempotency-Key", "invoice-42")
	read := p.must(http.StatusOK, "GET", "/payouts/"+booked.body.text("id"), nil)
	for name, value := range terms {
		assert.Equal(t, value, booked.body[name], name)
		assert.Equal(t, value, read.body[name], name)
	}
	for name, value := range map[string]any{
		"paymentReference": "Invoice 43", "purpose": "services", "documentIds": []any{"doc_2", "doc_1"},
		"publicKey": base64Of(124),
		"signature": base64Of(92), "toChainId": nil,
	} {
		other := object{}
		for name, value := range terms {
			other[name] = value
		}
		if other[name] = value; value == nil {
			delete(other, name)
		}
		got := p.call("POST", "/payouts", other, "Idempotency-Key", "invoice-42")
		refused(t, http.StatusConflict, "idempotency_key_reused", got)
	}
}

// Rule: resource.payin
func TestPayinShowsOriginAndMaximum(t *testing.T) {
	p := newPayer(t)
	quoted := p.payin(object{"maxAmount": "60"})
	require.Equal(t, http.StatusCreated, quoted.status, "%s", quoted.raw)
	read := p.must(http.StatusOK, "GET", "/payins/"+quoted.body.text("id"), nil)
	for _, body := range []object{quoted.body, read.body} {
		assert.EqualValues(t, 1, body.at("originChainId"))
		assert.Equal(t, "60", body.text("maxAmount"))
	}
	below := p.payin(object{"maxAmount": "49.99"})
	assert.Equal(t, map[string]string{"maxAmount": "greater_than_equal"}, below.fields())
}

// Every resource, with everything that it can carry: amounts are decimal strings, and times are UTC.
// Rule: resource.decimals, resource.dates, resource.id-prefixes
func TestFormatsOfAmountsTimesAndIDs(t *testing.T) {
	p := newPayer(t)
	p.verify()
	rail := p.activeRail("sepa", "EUR")
	booked, escrow, quoted := p.book("invoice-42", "20.5"), p.mustCreateEscrow("escrow-1",
		object{"amount": "0.000001"}), p.payin(object{"maxAmount": "60"})
	answers := []reply{
		booked, escrow, quoted, p.confirm(booked), p.act(escrow, escrow.action()),
		p.must(http.StatusOK, "GET", "/transactions", nil), p.must(http.StatusOK, "GET", "/sandbox/treasury", nil),
		p.must(http.StatusOK, "GET", "/clients/"+p.account, nil),
		p.call("POST", "/contacts", object{"email": "acme@example.com"}),
		p.call("POST", "/sandbox/deposits", object{"amount": "000.50", "currency": "EURC"}), p.challenge(p.email),
	}
	amounts := []string{"amount", "available", "sourceAmount", "destinationAmount", "rate", "fee", "maxAmount",
		"maxCredit", "gas"}
	written := map[string]int{}
	for _, answered := range answers {
		require.Less(t, answered.status, http.StatusMultipleChoices, "%s", answered.raw)
		eachMember(answered.body, func(name string, value any) {
			text, _ := value.(string)
			switch {
			case slices.Contains(amounts, name):
				written["amount"]++
				assert.Regexp(t, `^[+-]?(\d+\.?\d*|\.\d+)$`, text, name)
			case strings.HasSuffix(name, "At"), name == "approveBy", strings.HasSuffix(name, "Until"):
				written["time"]++
				_, err := time.Parse("2006-01-02T15:04:05.999999999Z", text)
				assert.NoError(t, err, name)
			}
		})
	}
	assert.Greater(t, written["amount"], 20)
	assert.Greater(t, written["time"], 20)

	for id, prefix := range map[string]string{
		p.account: "cl_", rail: "bnk_", p.contact: "ct_", booked.body.text("id"): "po_",
		p.host.Credentials().KeyID: "dk_",
	} {
		assert.Regexp(t, "^"+prefix+`[A-Za-z0-9._:\-]{1,216}$`, id)
	}
}

// eachMember visits the members of an object and of every object in it.
func eachMember(value any, visit func(name string, value any)) {
	switch value := value.(type) {
	case object:
		eachMember(map[string]any(value), visit)
	case map[string]any:
		for name, inner := range value {
			visit(name, inner)
			eachMember(inner, visit)
		}
	case []any:
		for _, item := range value {
			eachMember(item, visit)
		}
	}
}

// Rule: resource.partner-unnamed
func TestNoBankingPartnerIsNamed(t *testing.T) {
	p := newPayer(t)
	p.verify()
	for method, rail := range p.rails() {
		require.Equal(t, http.StatusCreated, p.openRail(method, rail.text("currency")).status, method)
	}
	p.host.Advance(time.Duration(p.host.Settings().RailActiveAfter))
	rails := p.rails()
	assert.Len(t, rails, 13)
	for method, rail := range rails {
		assert.Equal(t, "licensed banking partner",
			strings.ToLower(rail.text("virtualAccount", "requisites", "bankName")), method)
	}
}

// Rule: contact.linked-account
func TestEmailContactIsLinkedToItsAccount(t *testing.T) {
	p := newPayer(t)
	linked := p.must(http.StatusCreated, "POST", "/contacts", object{"name": "Acme", "email": "ACME@example.com"})
	id := linked.body.text("userId")
	assert.Regexp(t, `^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`, id)
	assert.Equal(t, id, linked.body.text("user", "id"))
	assert.Equal(t, id, p.as("").must(http.StatusCreated, "POST", "/contacts", object{"email": "acme@example.com"}).
		body.text("userId"), "of every account's contact")
	wallet := p.must(http.StatusOK, "PATCH", "/contacts/"+p.contact, object{"name": "Bob"})
	assert.Nil(t, wallet.body.at("userId"))
	assert.Nil(t, wallet.body.at("user"))
}

// Rule: coverage.direct, coverage.cross-chain
func TestWalletPayoutsDirectAndCrossChain(t *testing.T) {
	for name, c := range map[string]struct {
		chain, token, asset string
		toChain             int
		direct              bool
	}{
		"dollars on Base":       {"base", "USDC", "USDC", 8453, true},
		"euros on Base":         {"base", "EURC", "EURC", 8453, true},
		"another asset on Base": {"base", "EURC", "USDC", 8453, false},
		"dollars on Ethereum":   {"ethereum", "USDC", "USDC", 1, false},
		"another token":         {"ethereum", "DAI", "USDC", 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPayer(t)
			p.must(http.StatusCreated, "POST", "/sandbox/deposits", object{"amount": "100", "currency": "EURC"})
			contact := p.must(http.StatusCreated, "POST", "/contacts", object{"account": object{
				"accountType": "onchain", "chainId": c.chain, "currency": c.token,
				"walletAddress": "0x1111111111111111111111111111111111111111"}})
			body := object{"contactId": contact.body["id"], "amount": "20", "currency": c.asset, "fromChainId": 8453,
				"toChainId": c.toChain}
			booked := p.must(http.StatusCreated, "POST", "/payouts", body)
			assert.EqualValues(t, c.toChain, booked.body.at("toChainId"))
			quote := object(booked.body.at("quote").(map[string]any))
			assert.Equal(t, []string{"20", c.asset, c.token},
				[]string{quote.text("sourceAmount"), quote.text("sourceCurrency"), quote.text("destinationCurrency")})
			assert.Equal(t, c.direct, quote.text("fee") == "0", "%v", quote)
			assert.Equal(t, c.direct, quote.text("destinationAmount") == "20", "%v", quote)
			require.Equal(t, http.StatusOK, p.confirm(booked).status)

			for name, chain := range map[string]int{"fromChainId": 1, "toChainId": 10} {
				wrong := object{"contactId": contact.body["id"], "amount": "21", "currency": c.asset, name: chain}
				assert.Equal(t, map[string]string{name: "chain_mismatch"}, p.call("POST", "/payouts", wrong).fields())
			}
		})
	}
}

// Rule: coverage.chains
func TestListedTokensHaveDecimalsAndAddress(t *testing.T) {
	chains := newWorld(t).login().must(http.StatusOK, "GET", "/chains", nil).body.at("items").([]any)
	require.NotEmpty(t, chains)
	for _, item := range chains {
		chain := object(item.(map[string]any))
		assert.Positive(t, chain.at("chainId"), "%v", chain)
		tokens := chain.at("tokens").([]any)
		require.NotEmpty(t, tokens)
		for _, item := range tokens {
			token := object(item.(map[string]any))
			assert.Positive(t, token.at("decimals"), "%v", token)
			assert.Regexp(t, `^0x[0-9a-fA-F]{40}$`, token.text("address"))
		}
	}
}

// A client without a verification receives money on chain and from another chain, and has no virtual account.
// Rule: payin.needs-ready, client.balance
func TestReceivingOnChainNeedsWalletButNoVerification(t *testing.T) {
	p := newPayer(t)
	status, _ := p.verification()
	require.Equal(t, "not_started", status)
	quoted := p.payin(nil)
	require.Equal(t, http.StatusCreated, p.instruct(quoted).status)
	require.Equal(t, http.StatusOK, p.complete("c1", quoted).status)
	refused(t, http.StatusUnprocessableEntity, "rail_requirements_unmet", p.openRail("sepa", "EUR"))

	client := p.as("").must(http.StatusOK, "GET", "/clients/"+p.account, nil)
	wallet := client.body.text("baseSmartWallet")
	assert.Regexp(t, `^0x[0-9a-fA-F]{40}$`, wallet)
	assert.Equal(t, []any{
		map[string]any{"currency": "USDC", "available": "149.7"}, map[string]any{"currency": "EURC", "available": "0"},
	}, client.body.at("balances"))

	// What arrives at the wallet is balance.
	integrator := p.as("")
	integrator.must(http.StatusCreated, "POST", "/sandbox/deposits", object{"amount": "30", "currency": "EURC"})
	contact := integrator.must(http.StatusCreated, "POST", "/contacts", object{"account": object{
		"accountType": "onchain", "chainId": "base", "currency": "EURC", "walletAddress": strings.ToLower(wallet)}})
	booked := integrator.must(http.StatusCreated, "POST", "/payouts",
		object{"contactId": contact.body["id"], "amount": "30", "currency": "EURC"})
	require.Equal(t, http.StatusOK, integrator.confirm(booked).status)
	p.step()
	p.step()
	assert.Equal(t, "30", p.host.Ledger().Balances[p.account]["EURC"].String())
}

// Rule: rail.money-in, rail.states
func TestRailsMatchCoverageCatalogue(t *testing.T) {
	p := newPayer(t)
	p.verify()
	want := map[string]string{
		"ach": "USD", "fedwire": "USD", "swift": "USD", "sepa": "EUR", "ukfps": "GBP", "uaefts": "AED", "pix": "BRL",
		"spei": "MXN", "npp": "AUD", "nip": "NGN", "breb": "COP", "pse": "COP", "transfers_3_0": "ARS",
	}
	for method, rail := range p.rails() {
		assert.Equal(t, want[method], rail.text("currency"), method)
	}
	for method, currency := range want {
		assert.Regexp(t, "^bnk_", p.activeRail(method, currency), method)
		rail := p.rails()[method]
		assert.Equal(t, "active", rail.text("status"))
		assert.NotEmpty(t, rail.at("virtualAccount", "requisites"), method)
	}
}

// Rule: sandbox.one-faucet
func TestEveryCreditComesFromOneFaucet(t *testing.T) {
	p := newPayer(t)
	bolt := p.as("").readyClient("bolt@example.com")
	faucet := func(who *session) decimal.Decimal {
		balances := who.must(http.StatusOK, "GET", "/sandbox/treasury", nil).body.at("balances").([]any)
		return decimal.RequireFromString(object(balances[0].(map[string]any)).text("available"))
	}
	before := faucet(p.session)
	assert.True(t, before.Equal(faucet(bolt)), "shared")
	p.must(http.StatusCreated, "POST", "/sandbox/deposits", object{"amount": "5", "currency": "USDC"})
	bolt.must(http.StatusCreated, "POST", "/sandbox/deposits", object{"amount": "7", "currency": "USDC"})
	quoted := p.payin(nil)
	require.Equal(t, http.StatusCreated, p.instruct(quoted).status)
	require.Equal(t, http.StatusOK, p.complete("c1", quoted).status)
	assert.Equal(t, "61.7", before.Sub(faucet(bolt)).String(), "5 and 7 and the payin's 49.7")
}

// Rule: ledger.whole-account
func TestTransactionsBelongToTheAccount(t *testing.T) {
	p := newPayer(t)
	require.Equal(t, http.StatusOK, p.confirm(p.book("invoice-42", "20")).status)
	escrow := p.mustCreateEscrow("escrow-1", nil)
	require.Equal(t, http.StatusOK, p.act(escrow, escrow.action()).status)
	quoted := p.payin(nil)
	require.Equal(t, http.StatusCreated, p.instruct(quoted).status)
	require.Equal(t, http.StatusOK, p.complete("c1", quoted).status)

	var types []string
	for _, item := range p.must(http.StatusOK, "GET", "/transactions", nil).body.at("items").([]any) {
		types = append(types, object(item.(map[string]any)).text("type"))
	}
	assert.Equal(t, []string{"payin", "escrow", "payout", "deposit"}, types, "newest first")
	for _, other := range []*session{p.as(""), p.as("").readyClient("bolt@example.com")} {
		assert.Empty(t, other.must(http.StatusOK, "GET", "/transactions", nil).body.at("items"))
	}
}
