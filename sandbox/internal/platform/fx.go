package platform

import (
	"strings"

	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
)

// cardSpread is the spread of a card payment, as a fraction of the middle rate.
var cardSpread = decimal.RequireFromString("0.02")

// FXRate is the value of one unit of a currency in US dollars: the middle rate, and the rates of bank transfers and
// cards.
type FXRate struct{ USD, BankTransfer, Card decimal.Decimal }

// FXRate prices a currency, or a token of that currency, in US dollars. A currency without a price is not_found.
func (p *Platform) FXRate(currency string) (FXRate, error) {
	fiat := fiatOf(strings.ToUpper(currency))
	units, priced := perDollar[fiat]
	if !priced {
		return FXRate{}, wire.NotFound()
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

// CostOf returns how many dollars of the settlement asset pay an amount of a currency, rounded up. A currency without a
// price is a conflict: the caller cannot correct it.
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
	if !rate.IsPositive() { // or if the settings make the price zero
		return decimal.Zero, wire.Conflict("There is no price for " + currency + ".")
	}
	return amount.DivRound(rate, assetDecimals+rateDecimals).RoundUp(assetDecimals), nil
}
