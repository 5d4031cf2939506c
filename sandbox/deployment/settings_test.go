package deployment_test

import (
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/sandbox/deployment"
)

func TestInvalidSettingsAreNamed(t *testing.T) {
	t.Parallel()
	require.NoError(t, deployment.DefaultSettings().Check())
	negative := decimal.NewFromInt(-1)
	err := deployment.Settings{
		MaxCredit: negative, FaucetBalance: negative, FaucetGas: negative, PriceWorsening: decimal.NewFromInt(1),
		ClientReadyAfter: -1, PayoutStepAfter: -1, QuoteLifetime: 2*deployment.Duration(time.Minute) + 1,
		PayoutMethodsDisabled: []string{"carrier_pigeon"},
		KYBDecisionAfter:      -1, RailActiveAfter: -1, ChainReadEvery: -1,
		RailsHidden: []string{"fednow"}, RailsDisabled: []string{"rtp"}, ChannelsUnavailable: []string{"brl_local"},
		ContractorAcceptsAfter: -1, CardActiveAfter: -1,
		PriceDrift: decimal.NewFromInt(1), FeeIncrease: negative, FailOneIn: -1, FailAmount: decimal.New(1, 18),
		RefundOneIn: -1, RefundAmount: decimal.New(1, -19), RefundAfter: -1,
	}.Check()
	for _, name := range []string{
		"maxCredit", "faucetBalance", "faucetGas", "signingPolicy", "priceWorsening", "clientReadyAfter",
		"payoutStepAfter",
		"quoteLifetime", "approvalLifetime", "carrier_pigeon", "kybDecision must", "kybDecisionAfter",
		"railActiveAfter",
		"chainReadEvery",
		"fednow", "rtp", "brl_local", "loginMode", "maxRecords", "contractorAcceptsAfter", "maxUpload",
		"cardActiveAfter", "rateMinute", "priceDrift", "feeIncrease", "failOneIn", "failAmount", "refundOneIn",
		"refundAmount", "refundAfter",
	} {
		assert.ErrorContains(t, err, name)
	}
}

func TestMaxUploadBound(t *testing.T) {
	t.Parallel()
	settings := deployment.DefaultSettings()
	settings.MaxUpload = 10 << 20
	require.NoError(t, settings.Check())
	settings.MaxUpload++
	require.ErrorContains(t, settings.Check(), "maxUpload", "no request carries that")
}
