package sandbox_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Rule: coverage.direct, coverage.cross-chain
func TestWalletsArePaidDirectlyOrAcrossChains(t *testing.T) {
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
func TestEveryListedTokenSaysItsDecimalsAndAddress(t *testing.T) {
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

// A client without any verification receives on chain and from another chain, and holds no virtual account.
// Rule: payin.needs-ready, client.balance
func TestChainReceiptNeedsAWalletAndNoVerification(t *testing.T) {
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
	own := p.as("")
	own.must(http.StatusCreated, "POST", "/sandbox/deposits", object{"amount": "30", "currency": "EURC"})
	contact := own.must(http.StatusCreated, "POST", "/contacts", object{"account": object{
		"accountType": "onchain", "chainId": "base", "currency": "EURC", "walletAddress": strings.ToLower(wallet)}})
	booked := own.must(http.StatusCreated, "POST", "/payouts",
		object{"contactId": contact.body["id"], "amount": "30", "currency": "EURC"})
	require.Equal(t, http.StatusOK, own.confirm(booked).status)
	p.step()
	p.step()
	assert.Equal(t, "30", p.host.Ledger().Balances[p.account]["EURC"].String())
}

// Rule: rail.money-in, rail.states
func TestMoneyInIsTheCatalogue(t *testing.T) {
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
func TestTheLedgerIsTheAccountsOwn(t *testing.T) {
	p := newPayer(t)
	require.Equal(t, http.StatusOK, p.confirm(p.book("invoice-42", "20")).status)
	deal := p.deal("deal-1", nil)
	require.Equal(t, http.StatusOK, p.act(deal, deal.action()).status)
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
