package platform_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/sandbox/deployment"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/platformwire"
)

func (b *bench) treasury() platformwire.Treasury {
	response, err := b.GetTreasury(b.as(wire.Self, ""))
	require.NoError(b, err)
	return read[platformwire.Treasury](b, render(b, response))
}

func TestCreditsAreBounded(t *testing.T) {
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

func TestCreditIsAnchoredByItsKey(t *testing.T) {
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

func TestCreditWithoutKeyReplaysForTwoHours(t *testing.T) {
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
