package dapi_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/moneymovement/moneymovement-go/dapi"
)

// Rule: rail.money-in, coverage.money-out
func TestTheCatalogueIsTheDescriptions(t *testing.T) {
	in, out := dapi.RailCoverage(), dapi.PayoutCoverage()
	assert.Len(t, in, 13)
	assert.Contains(t, in, dapi.Coverage{Method: dapi.BankMethodSEPA, Currency: "EUR"})
	assert.Contains(t, out, dapi.Coverage{Method: dapi.BankMethodSWIFT, Currency: "USD", International: true})
	methods := map[dapi.BankMethod]bool{}
	for _, row := range out {
		methods[row.Method] = true
	}
	assert.Len(t, methods, 57, "each bank method pays out some currency")

	in[0].Method = "changed"
	assert.NotEqual(t, in[0], dapi.RailCoverage()[0], "the slice is the caller's")
}

// Rule: coverage.suffixes
func TestKindsFollowTheSuffix(t *testing.T) {
	assert.Equal(t, dapi.MethodKindScheme, dapi.BankMethodSEPA.Kind())
	assert.Equal(t, dapi.MethodKindLocal, dapi.BankMethodBDTLocal.Kind())
	assert.Equal(t, dapi.MethodKindEwallet, dapi.BankMethodBDTEwallet.Kind())
	assert.Equal(t, dapi.MethodKindLocal, dapi.BankMethod("new_local").Kind())
	assert.Equal(t, []dapi.MethodKind{"scheme", "local", "ewallet"},
		[]dapi.MethodKind{dapi.MethodKindScheme, dapi.MethodKindLocal, dapi.MethodKindEwallet})
}

// Rule: coverage.direct
func TestOnlySettlementAssetsOnBaseArePaidDirectly(t *testing.T) {
	for account, want := range map[dapi.OnchainAccount]bool{
		{ChainID: "base", Currency: "USDC"}:     true,
		{ChainID: "base", Currency: "EURC"}:     true,
		{ChainID: "base", Currency: "DAI"}:      false,
		{ChainID: "ethereum", Currency: "USDC"}: false,
	} {
		assert.Equal(t, want, account.PaidDirectly(), "%s on %s", account.Currency, account.ChainID)
	}
}
