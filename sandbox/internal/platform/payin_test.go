package platform_test

import (
	"encoding/json"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/moneymovement/moneymovement-go/sandbox/deployment"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/platformwire"
)

func (b *bench) rails(account string) []platformwire.Rail {
	response, err := b.ListRails(b.as(account, ""), platformwire.ListRailsParams{})
	require.NoError(b, err)
	return read[platformwire.RailPage](b, render(b, response)).Items
}

func TestRailsAreTheCoverageCatalogue(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("../../../openapi/coverage.yaml")
	require.NoError(t, err)
	var coverage struct {
		MoneyIn []platformwire.RailCreate `yaml:"moneyIn"`
	}
	require.NoError(t, yaml.Unmarshal(source, &coverage))

	var listed []platformwire.RailCreate
	for _, rail := range newBench(t).rails(wire.Self) {
		listed = append(listed, platformwire.RailCreate{Method: rail.Method, Currency: rail.Currency})
	}
	assert.Equal(t, coverage.MoneyIn, listed)
}

// The requisites of a virtual account are valid: a contact with them has no blockers.
func TestRequisitesAreValid(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	client := b.fundedClient("acme@example.com")
	b.verify(client)
	for _, rail := range b.rails(client) {
		t.Run(string(rail.Method), func(t *testing.T) {
			opened := b.virtualAccount(client, platformwire.RailCreate{Method: rail.Method, Currency: rail.Currency})
			requisites := opened.Requisites
			assert.Equal(t, "acme@example.com", requisites.AccountHolderName)
			assert.Equal(t, "Licensed banking partner", requisites.BankName, "no partner is ever named")

			contact, err := json.Marshal(map[string]any{"account": map[string]any{
				"accountType": rail.Method, "accountHolderName": requisites.AccountHolderName,
				"currency": rail.Currency,
				"iban":     requisites.IBAN, "bic": requisites.BIC, "accountNumber": requisites.AccountNumber,
				"routingNumber": requisites.RoutingNumber, "paymentKey": requisites.PaymentKey,
				"pixKey": requisites.PaymentKey,
			}})
			require.NoError(t, err)
			assert.Empty(t, b.capabilities(client, b.contact(client, string(contact)).ID).Blockers)

			again := b.virtualAccount(client, platformwire.RailCreate{Method: rail.Method, Currency: rail.Currency})
			assert.Equal(t, opened, again)
		})
	}
}

// The control digit of an 18-digit Mexican account number makes the weighted sum a multiple of ten.
func TestSPEIAccountsCarryTheirControlDigit(t *testing.T) {
	t.Parallel()
	number := newBench(t).virtualAccount(wire.Self,
		platformwire.RailCreate{Method: platformwire.BankMethodSPEI, Currency: "MXN"}).Requisites.AccountNumber
	for _, clabe := range []string{number, "032180000118359719"} { // and a published one
		require.Len(t, clabe, 18)
		sum := 0
		for i, digit := range clabe[:17] {
			sum += int(digit-'0') * []int{3, 7, 1}[i%3] % 10
		}
		assert.Zero(t, (sum+int(clabe[17]-'0'))%10, clabe)
	}
}

func TestRailHasVirtualAccountOnceActive(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.set(func(s *deployment.Settings) { s.RailActiveAfter = deployment.Duration(time.Minute) })
	sepa := platformwire.RailCreate{Method: platformwire.BankMethodSEPA, Currency: "EUR"}
	pending, err := b.openRail(wire.Self, sepa)
	require.NoError(t, err)
	assert.Equal(t, platformwire.Rail{Method: "sepa", Currency: "EUR", Status: platformwire.RailStatusPending}, pending)
	b.clock.Advance(time.Minute - time.Millisecond)
	pending, err = b.openRail(wire.Self, sepa)
	require.NoError(t, err)
	assert.Equal(t, platformwire.RailStatusPending, pending.Status)
	b.clock.Advance(time.Millisecond)
	active, err := b.openRail(wire.Self, sepa)
	require.NoError(t, err)
	assert.Equal(t, platformwire.RailStatusActive, active.Status)
	assert.NotNil(t, active.VirtualAccount)
}

func TestRailsNeedVerification(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.set(func(s *deployment.Settings) { s.KYBDecision = deployment.KYBDecisionReject })
	client := b.readyClient("acme@example.com")
	blockers := func() []string {
		_, err := b.openRail(client, platformwire.RailCreate{Method: platformwire.BankMethodACH, Currency: "USD"})
		var refusal *wire.Refusal
		require.ErrorAs(t, err, &refusal)
		require.Equal(t, "rail_requirements_unmet", refusal.Code)
		var codes []string
		for _, blocker := range refusal.Details["blockers"].([]wire.Blocker) {
			codes = append(codes, blocker.Code)
		}
		return codes
	}
	assert.Equal(t, "verification_not_completed", blockers()[0])
	_, err := b.saveKYB(client, platformwire.KYBInformation{
		Applicant:   map[string]any{"firstName": "Ann", "lastName": "Roe", "country": "DE"},
		DocumentIds: []string{"doc_1"},
	})
	require.NoError(t, err)
	_, err = b.completeKYB(client)
	require.NoError(t, err)
	assert.Equal(t, []string{"verification_under_review"}, blockers())
	b.clock.Advance(time.Minute)
	assert.Equal(t, []string{"verification_rejected"}, blockers())
}

// incoming is a payin over a virtual account or, without a bank id, from a chain.
func incoming(amount, currency, bank string, chain int64) platformwire.PayinCreate {
	return platformwire.PayinCreate{Amount: decimal.RequireFromString(amount), Currency: currency, BankID: bank,
		OriginChainID: chain}
}

func TestPayinQuotes(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	open := func(method platformwire.BankMethod, currency string) string {
		return b.virtualAccount(wire.Self, platformwire.RailCreate{Method: method, Currency: currency}).ID
	}
	for name, tc := range map[string]struct {
		body                    platformwire.PayinCreate
		fee, rate, amount, into string
	}{
		"dollars":       {incoming("100", "USD", open("ach", "USD"), 0), "0", "1", "100", "USDC"},
		"euros":         {incoming("100", "EUR", open("sepa", "EUR"), 0), "0", "1", "100", "EURC"},
		"pounds":        {incoming("79", "GBP", open("ukfps", "GBP"), 0), "0", "1.25949367", "99.499999", "USDC"},
		"pesos":         {incoming("395000", "COP", open("pse", "COP"), 0), "0", "0.00025189", "99.49655", "USDC"},
		"dollar token":  {incoming("10", "USDT", "", 137), "0.3", "1", "9.7", "USDC"},
		"euro token":    {incoming("10", "EURC", "", 1), "0.3", "1", "9.7", "EURC"},
		"fine token":    {incoming("1.000000999999999999", "DAI", "", 1), "0.3", "1", "0.7", "USDC"},
		"same currency": {incoming("10", "USDC", "", 10), "0.3", "1", "9.7", "USDC"},
	} {
		t.Run(name, func(t *testing.T) {
			quoted, err := b.payin(wire.Self, tc.body)
			require.NoError(t, err)
			quote := quoted.Quote
			assert.Equal(t, tc.fee, quote.Fee.String())
			assert.Equal(t, tc.rate, quote.Rate.String())
			assert.Equal(t, tc.amount, quote.DestinationAmount.String())
			assert.Equal(t, tc.into, quote.DestinationCurrency)
			assert.Equal(t, tc.body.Amount.String(), quote.SourceAmount.String())
			assert.Equal(t, b.clock.Now().Add(2*time.Minute), quote.ExpiresAt)
		})
	}
}

func TestPriceWorseningReducesPayin(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.set(func(s *deployment.Settings) { s.PriceWorsening = decimal.RequireFromString("0.02") })
	quoted, err := b.payin(wire.Self, incoming("10.3", "USDT", "", 1))
	require.NoError(t, err)
	assert.Equal(t, "9.8", quoted.Quote.DestinationAmount.String())
}

func TestPayinsNeedAnActiveVirtualAccount(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	sepa := platformwire.RailCreate{Method: platformwire.BankMethodSEPA, Currency: "EUR"}
	account := b.virtualAccount(wire.Self, sepa).ID

	_, err := b.payin(wire.Self, incoming("10", "EUR", "bnk_unknown", 0))
	assert.ErrorIs(t, err, wire.NotFound())
	b.set(func(s *deployment.Settings) { s.RailActiveAfter = deployment.Duration(time.Hour) })
	_, err = b.payin(wire.Self, incoming("10", "EUR", account, 0))
	assert.ErrorIs(t, err, wire.NotFound(), "a rail that is pending has shown no account")
	b.set(func(s *deployment.Settings) { s.RailActiveAfter, s.PartnerDown = 0, true })
	_, err = b.payin(wire.Self, incoming("10", "EUR", account, 0))
	assert.ErrorIs(t, err, wire.ProviderUnavailable(""))
	_, err = b.payin(wire.Self, incoming("10", "USDT", "", 1))
	assert.NoError(t, err, "a chain needs no banking partner")
}

func TestRefusedPayinCompletionDoesNotUseItsKey(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	quoted, err := b.payin(wire.Self, incoming("10", "USDT", "", 1))
	require.NoError(t, err)
	_, err = b.instructions(wire.Self, quoted.ID)
	require.NoError(t, err)
	b.set(func(s *deployment.Settings) { s.FaucetBalance = decimal.NewFromInt(9) })
	_, err = b.completePayin(wire.Self, "k", quoted.ID)
	assert.ErrorIs(t, err, wire.ProviderUnavailable(""))
	b.set(func(s *deployment.Settings) { s.FaucetBalance = decimal.NewFromInt(10) })
	completed, err := b.completePayin(wire.Self, "k", quoted.ID)
	require.NoError(t, err)
	assert.Equal(t, platformwire.PayinStatusCompleted, completed.Status)
	assert.Equal(t, "9.7", b.balance("acc_1", platformwire.AssetUSDC))
	assert.Equal(t, "0.3", b.balance("faucet", platformwire.AssetUSDC), "every emulated credit comes from the faucet")
}

func (b *bench) treasury() platformwire.Treasury {
	response, err := b.GetTreasury(b.as(wire.Self, ""))
	require.NoError(b, err)
	return read[platformwire.Treasury](b, render(b, response))
}

func TestDepositLimits(t *testing.T) {
	t.Parallel()
	zero := decimal.Decimal{}
	for name, tc := range map[string]struct {
		amount string
		set    func(*deployment.Settings)
		want   string
	}{
		"smallest":           {"0.10", nil, ""},
		"largest":            {"100", nil, ""},
		"under the smallest": {"0.099999", nil, "amount_below_minimum"},
		"over the largest":   {"100.000001", nil, "amount_above_maximum"},
		"over a live maximum": {"51", func(s *deployment.Settings) {
			s.MaxCredit = decimal.NewFromInt(50)
		}, "amount_above_maximum"},
		"nothing":            {"0", nil, "amount_below_minimum"},
		"less than nothing":  {"-1", nil, "amount_below_minimum"},
		"too precise":        {"1.0000001", nil, "validation_failed"},
		"faucet without gas": {"1", func(s *deployment.Settings) { s.FaucetGas = zero }, "provider_unavailable"},
		"faucet is empty":    {"1", func(s *deployment.Settings) { s.FaucetBalance = zero }, "provider_unavailable"},
		"faucet has too little": {"1", func(s *deployment.Settings) {
			s.FaucetBalance = decimal.RequireFromString("0.999999")
		}, "provider_unavailable"},
		"faucet has just it": {"1", func(s *deployment.Settings) { s.FaucetBalance = decimal.NewFromInt(1) }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			if tc.set != nil {
				b.set(tc.set)
			}
			credited, err := b.deposit(wire.Self, "", tc.amount, platformwire.AssetUSDC)
			if tc.want != "" {
				refusal := refusalOf(t, err, tc.want)
				if tc.want == "amount_above_maximum" {
					assert.Equal(t, b.treasury().MaxCredit.String(), refusal.Details["maxCredit"])
				}
				return
			}
			require.NoError(t, err)
			assert.Equal(t, http.StatusCreated, credited.Code)
			assert.True(t, decimal.RequireFromString(tc.amount).
				Equal(read[platformwire.Transaction](t, credited).Amount))
		})
	}
}

func TestDepositIsIdempotentByKey(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	first, err := b.deposit(wire.Self, "credit-1", "10", platformwire.AssetUSDC)
	require.NoError(t, err)
	b.set(func(s *deployment.Settings) { s.MaxCredit = decimal.NewFromInt(1) })
	again, err := b.deposit(wire.Self, "credit-1", "10.00", platformwire.AssetUSDC)
	require.NoError(t, err, "a replay asks nobody")
	assert.True(t, again.replayed())
	assert.Equal(t, first.Body.String(), again.Body.String())
	_, err = b.deposit(wire.Self, "credit-1", "10", platformwire.AssetEURC)
	assert.Nil(t, refusalOf(t, err, "idempotency_key_reused").Details)
	assert.Equal(t, "10", b.balance("acc_1", platformwire.AssetUSDC))
}

func TestDepositWithDerivedKeyReplaysForTwoHours(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, want := range []struct {
		after    time.Duration
		replayed bool
		balance  string
	}{{0, false, "1"}, {time.Hour, true, "1"}, {time.Hour, false, "2"}} {
		b.clock.Advance(want.after)
		credited, err := b.deposit(wire.Self, "", "1", platformwire.AssetUSDC)
		require.NoError(t, err)
		assert.Equal(t, want.replayed, credited.replayed())
		assert.Equal(t, want.balance, b.balance("acc_1", platformwire.AssetUSDC))
	}
}

func TestFaucetFollowsItsSetting(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	_, err := b.deposit(wire.Self, "", "10", platformwire.AssetUSDC)
	require.NoError(t, err)
	assert.Equal(t, "999990", b.treasury().Balances[0].Available.String())
	b.set(func(s *deployment.Settings) { s.FaucetBalance = decimal.NewFromInt(5) })
	assert.Equal(t, "5", b.treasury().Balances[0].Available.String())
	assert.Equal(t, "5", b.treasury().Balances[1].Available.String())
	assert.True(t, b.Ledger().Sums["USDC"].IsZero())
}
