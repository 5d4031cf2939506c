package payments

import (
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
)

// A payment in doubt counts past the caps, but another signature for more, or the first one that is checked, is within
// them. A signature that was checked before is not stopped: it may be the one that has paid.
func TestASignatureAsksTheCaps(t *testing.T) {
	most := decimal.NewFromInt(105)
	rules, err := (&Limits{TimeZone: "UTC", Assets: map[dapi.Asset]Caps{dapi.USDC: {Day: &most}}}).rules("test")
	require.NoError(t, err)
	submitted := time.Date(2026, 1, 1, 10, 0, 0, 0, time.UTC)
	now := submitted.Add(24 * time.Hour)
	price := func(debits int64) *dapi.Quote {
		return &dapi.Quote{SourceCurrency: "USDC", SourceAmount: decimal.NewFromInt(debits)}
	}
	for name, one := range map[string]struct {
		unchecked bool
		price     *dapi.Quote
		counts    int64
		at        time.Time
		asks      bool
	}{
		"the same price":             {false, price(100), 100, submitted, false},
		"a lower price":              {false, price(90), 100, submitted, false},
		"a higher price":             {false, price(120), 120, submitted, true},
		"the first that is checked":  {true, price(100), 100, now, true},
		"a booking without a price":  {false, nil, 100, submitted, false},
		"unchecked, without a price": {true, nil, 100, now, true},
	} {
		record := Record{Key: "k", Kind: KindPayout, State: moneymovement.PaymentInDoubt, MayHaveLeft: true,
			FirstUsed: submitted,
			Payout:    &dapi.PayoutCreate{ContactID: "ct_7", Amount: decimal.NewFromInt(100), Currency: dapi.USDC},
			Spending: &Spending{Asset: "USDC", Amount: decimal.NewFromInt(100), Payee: "7", At: submitted,
				Unchecked: one.unchecked}}
		next, refused := rules.admitSignature(record, one.price, now)
		assert.Empty(t, refused, name)
		assert.Equal(t, decimal.NewFromInt(one.counts).String(), next.Spending.Amount.String(), name)
		assert.Equal(t, one.at, next.Spending.At, name)
		assert.Equal(t, one.asks, len(next.Count.Caps) == 1, name)
		assert.Equal(t, one.unchecked, record.Spending.Unchecked, "%s: the record itself does not change", name)
	}
}
