package platform

import (
	"strings"

	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/refuse"
)

// cardSpread is what a card payment costs against the middle rate, as a fraction.
var cardSpread = decimal.RequireFromString("0.02")

// FXRate has the US dollars that one unit of a currency is worth: in the middle, and as bank transfers and cards get
// them.
type FXRate struct{ USD, BankTransfer, Card decimal.Decimal }

// FXRate prices a currency, or a token that stands for one, against the US dollar. A currency without a price is
// not_found.
func (p *Platform) FXRate(currency string) (FXRate, error) {
	fiat := fiatOf(strings.ToUpper(currency))
	units, priced := perDollar[fiat]
	if !priced {
		return FXRate{}, refuse.NotFound()
	}
	one := decimal.NewFromInt(1)
	rate := FXRate{USD: one.DivRound(units, rateDecimals)}
	rate.BankTransfer, rate.Card = rate.USD, rate.USD
	if fiat != fiatOf(settlementDollars) {
		rate.BankTransfer = rate.USD.Mul(one.Sub(fxSpread)).Round(rateDecimals)
		rate.Card = rate.USD.Mul(one.Sub(cardSpread)).Round(rateDecimals)
	}
	return rate, nil
}

// CostOf is how many dollars of the settlement asset pay an amount of a currency, rounded up. A currency that has no
// price is a conflict: nothing that the caller sends would change that.
func (o Own) CostOf(amount decimal.Decimal, currency string) (decimal.Decimal, error) {
	t, _, err := o.enter()
	defer o.platform.leave()
	if err != nil {
		return decimal.Zero, err
	}
	var rate decimal.Decimal
	if _, priced := perDollar[fiatOf(currency)]; priced {
		rate = t.rate(settlementDollars, currency)
	}
	if !rate.IsPositive() { // nor if prices have worsened to nothing
		return decimal.Zero, refuse.Conflict("There is no price for " + currency + ".")
	}
	return amount.DivRound(rate, assetDecimals+rateDecimals).RoundUp(assetDecimals), nil
}
