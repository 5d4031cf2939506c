package platform

import (
	"time"

	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/platformwire"
)

// The host's fees, in the debited asset. The service publishes no fees; only a quote has a price.
var (
	feeSWIFT      = decimal.RequireFromString("15.00")
	feeFedwire    = decimal.RequireFromString("5.00")
	feeBank       = decimal.RequireFromString("0.50")
	feeCrossChain = decimal.RequireFromString("0.30")
	fxSpread      = decimal.RequireFromString("0.005")
)

// rateDecimals is the number of decimals of rates.
const rateDecimals = 8

// perDollar is how much of each currency one US dollar buys. The host has fixed figures of its own.
var perDollar = func() map[string]decimal.Decimal {
	table := map[string]decimal.Decimal{}
	for currency, rate := range map[string]string{
		"USD": "1", "EUR": "0.92", "GBP": "0.79", "CAD": "1.36", "MXN": "17.10", "BRL": "5.05", "ARS": "905",
		"COP": "3950",
		"CLP": "940", "BOB": "6.91", "CRC": "512", "GTQ": "7.79", "HNL": "24.70", "DOP": "59.10", "JMD": "155.60",
		"PLN": "3.98",
		"DKK": "6.87", "NOK": "10.62", "TRY": "32.40", "ILS": "3.71", "AED": "3.6725", "SAR": "3.75", "EGP": "47.60",
		"NGN": "1480",
		"XOF": "603", "SLE": "22.50", "TZS": "2590", "UGX": "3790", "ZMW": "26.30", "AUD": "1.52", "JPY": "154.80",
		"KRW": "1368",
		"CNY": "7.24", "HKD": "7.82", "INR": "83.40", "IDR": "16050", "MYR": "4.75", "PHP": "57.30", "PKR": "278",
		"THB": "36.60",
		"VND": "25400", "BDT": "109.70", "CHF": "0.88", "NZD": "1.64", "SEK": "10.48",
	} {
		table[currency] = decimal.RequireFromString(rate)
	}
	return table
}()

// wholeCurrencies are the currencies whose payments have no decimals.
var wholeCurrencies = map[string]bool{"CLP": true, "JPY": true, "KRW": true, "UGX": true, "VND": true, "XOF": true}

// pegs are the currencies of tokens.
var pegs = map[string]string{"USDC": "USD", "EURC": "EUR", "USDT": "USD", "DAI": "USD"}

// quote prices a payment of an asset to a contact. The amount includes the fee. drift is the fraction by which the
// price is worse than usual, or better if it is negative.
func (t *turn) quote(c *contact, asset string, amount, drift decimal.Decimal) (platformwire.Quote, error) {
	quote := platformwire.Quote{
		SourceAmount:        amount,
		SourceCurrency:      asset,
		DestinationAmount:   amount,
		DestinationCurrency: asset,
		Rate:                decimal.NewFromInt(1),
		ExpiresAt:           t.now.Add(time.Duration(t.settings.QuoteLifetime)),
	}
	if c.To.direct(asset) {
		return quote, nil
	}
	quote.DestinationCurrency = c.To.currency(c.Currency)
	quote.Fee = feeOf(c.To).Add(t.settings.FeeIncrease)
	quote.Rate = t.rate(asset, quote.DestinationCurrency)
	if !drift.IsZero() {
		one := decimal.NewFromInt(1)
		quote.Fee = quote.Fee.Mul(one.Add(drift))
		quote.Rate = quote.Rate.Mul(one.Sub(drift)).Round(rateDecimals)
	}
	quote.Fee = quote.Fee.RoundUp(assetDecimals)
	quote.DestinationAmount = amount.Sub(quote.Fee).Mul(quote.Rate).
		Truncate(decimalsOf(c.To, quote.DestinationCurrency))
	if !quote.DestinationAmount.IsPositive() {
		return quote, wire.InvalidField("amount", "amount_below_fee", "The amount is not more than the fee.")
	}
	return quote, nil
}

func feeOf(to destination) decimal.Decimal {
	switch {
	case to.Bank == nil:
		return feeCrossChain
	case to.Bank.AccountType == platformwire.BankMethodSWIFT:
		return feeSWIFT
	case to.Bank.AccountType == platformwire.BankMethodFedwire:
		return feeFedwire
	default:
		return feeBank
	}
}

// rate returns how much of the destination currency one unit of the source buys. Both may be tokens.
func (t *turn) rate(source, destination string) decimal.Decimal {
	from, to := fiatOf(source), fiatOf(destination)
	one := decimal.NewFromInt(1)
	rate := perDollar[to].DivRound(perDollar[from], rateDecimals)
	if from != to {
		rate = rate.Mul(one.Sub(fxSpread))
	}
	return rate.Mul(one.Sub(t.settings.PriceWorsening)).Round(rateDecimals)
}

// fiatOf returns the currency itself, or the currency of a token.
func fiatOf(currency string) string {
	if peg, ok := pegs[currency]; ok {
		return peg
	}
	return currency
}

// decimalsOf returns the number of decimals at the destination.
func decimalsOf(to destination, currency string) int32 {
	switch {
	case to.Wallet != nil:
		chain, _ := chainByCode(to.Wallet.Chain)
		token, _ := tokenOf(chain, to.Wallet.Token)
		return int32(token.Decimals) //gosec:disable G115 -- the chains list 6 to 18
	default:
		return fiatDecimals(currency)
	}
}

// fiatDecimals returns the number of decimals of a fiat payment.
func fiatDecimals(currency string) int32 {
	if wholeCurrencies[currency] {
		return 0
	}
	return 2
}
