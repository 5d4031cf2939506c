package platform_test

import (
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/sandbox/deployment"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/platformwire"
)

// incoming is a payin over a virtual account, or from a chain when there is none.
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

func TestWorsePricesCreditLess(t *testing.T) {
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

func TestACreditThatIsRefusedCanBeAskedAgain(t *testing.T) {
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
