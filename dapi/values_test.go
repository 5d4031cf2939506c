package dapi_test

import (
	"reflect"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

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

// Rule: size.escrow-duration
func TestEscrowDurations(t *testing.T) {
	for want, d := range map[dapi.EscrowDuration]time.Duration{
		"14d":   14 * 24 * time.Hour,
		"1h":    time.Hour,
		"90m":   90 * time.Minute,
		"45s":   45 * time.Second,
		"9999d": 9999 * 24 * time.Hour,
	} {
		assert.Equal(t, want, dapi.EscrowDurationOf(d))
		assert.Equal(t, d, want.Duration())
	}
	for _, malformed := range []dapi.EscrowDuration{"", "d", "1", "-1d", "+1d", "1.5h", "10000s", "1dd", "1 d", "1D",
		"1w"} {
		assert.Zero(t, malformed.Duration(), "%q", malformed)
	}
}

func TestEscrowDurationsRoundTrip(t *testing.T) {
	stated := regexp.MustCompile(`^\d{1,4}[smhd]$`)
	rapid.Check(t, func(t *rapid.T) {
		d := dapi.EscrowDuration(rapid.StringMatching(`\d{1,4}[smhd]`).Draw(t, "duration"))
		again := dapi.EscrowDurationOf(d.Duration())
		if d.Duration() > 0 && (!stated.MatchString(string(again)) || again.Duration() != d.Duration()) {
			t.Fatalf("%s is %s, which is written %s", d, d.Duration(), again)
		}
	})
}

// servicesOf maps the services of a client to their types.
func servicesOf[T any]() map[string]reflect.Type {
	services := map[string]reflect.Type{}
	for field := range reflect.TypeFor[T]().Fields() {
		if field.IsExported() {
			services[field.Name] = field.Type
		}
	}
	return services
}

// A service that accounts get one day is not forgotten for self-serve.
func TestSelfServeOffersWhatAnyAccountHas(t *testing.T) {
	want := servicesOf[dapi.Account]()
	delete(want, "Verification")
	delete(want, "Rails")
	assert.Equal(t, want, servicesOf[dapi.SelfServe]())
	_, acts := reflect.TypeFor[*dapi.SelfServe]().MethodByName("For")
	assert.False(t, acts)
}

func TestAnAmountHasASign(t *testing.T) {
	for direction, want := range map[dapi.TransactionDirection]string{"in": "12.5", "out": "-12.5"} {
		signed, ok := dapi.Transaction{Amount: amount("12.5"), Direction: direction}.Signed()
		assert.True(t, ok)
		assert.Equal(t, want, signed.String())
	}
	signed, ok := dapi.Transaction{Amount: amount("12.5"), Direction: "sideways"}.Signed()
	require.False(t, ok, "it is not known whether the money arrived")
	assert.True(t, signed.IsZero())
}
