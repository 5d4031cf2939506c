package platform

import (
	"context"
	"slices"
	"strings"
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
func (t *txn) quote(c *contact, asset string, amount, drift decimal.Decimal) (platformwire.Quote, error) {
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
func (t *txn) rate(source, destination string) decimal.Decimal {
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
func (o OwnAccount) CostOf(amount decimal.Decimal, currency string) (decimal.Decimal, error) {
	t, _, err := o.begin()
	defer o.platform.commit()
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

// The chain on which every balance is held.
const (
	baseCode          = "base"
	baseID            = 8453
	assetDecimals     = 6
	settlementDollars = string(platformwire.AssetUSDC)
	settlementEuros   = string(platformwire.AssetEURC)
)

// assets are the settlement assets, in the order of balances.
var assets = []string{settlementDollars, settlementEuros}

// chains are the live chains. The contract addresses are the published ones of the tokens.
var chains = []platformwire.Chain{
	{ChainID: baseID, Code: baseCode, Name: "Base", Tokens: []platformwire.Token{
		{Symbol: "USDC", Decimals: assetDecimals, Address: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"},
		{Symbol: "EURC", Decimals: assetDecimals, Address: "0x60a3E35Cc302bFA44Cb288Bc5a4F316Fdb1adb42"},
	}},
	{ChainID: 1, Code: "ethereum", Name: "Ethereum", Tokens: []platformwire.Token{
		{Symbol: "USDC", Decimals: 6, Address: "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48"},
		{Symbol: "EURC", Decimals: 6, Address: "0x1aBaEA1f7C830bD89Acc67eC4af516284b1bC33c"},
		{Symbol: "USDT", Decimals: 6, Address: "0xdAC17F958D2ee523a2206206994597C13D831ec7"},
		{Symbol: "DAI", Decimals: 18, Address: "0x6B175474E89094C44Da98b954EedeAC495271d0F"},
	}},
	{ChainID: 42161, Code: "arbitrum", Name: "Arbitrum One", Tokens: []platformwire.Token{
		{Symbol: "USDC", Decimals: 6, Address: "0xaf88d065e77c8cC2239327C5EDb3A432268e5831"},
		{Symbol: "USDT", Decimals: 6, Address: "0xFd086bC7CD5C481DCC9C85ebE478A1C0b69FCbb9"},
	}},
	{ChainID: 10, Code: "optimism", Name: "OP Mainnet", Tokens: []platformwire.Token{
		{Symbol: "USDC", Decimals: 6, Address: "0x0b2C639c533813f4Aa9D7837CAf62653d097Ff85"},
		{Symbol: "USDT", Decimals: 6, Address: "0x94b008aA00579c1307B0EF2c499aD98a8ce58e58"},
	}},
	{ChainID: 137, Code: "polygon", Name: "Polygon", Tokens: []platformwire.Token{
		{Symbol: "USDC", Decimals: 6, Address: "0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359"},
		{Symbol: "USDT", Decimals: 6, Address: "0xc2132D05D31c914a87C6611C10748AEb04B58e8F"},
	}},
}

func chainByCode(code string) (platformwire.Chain, bool) {
	i := slices.IndexFunc(chains, func(c platformwire.Chain) bool { return c.Code == code })
	if i < 0 {
		return platformwire.Chain{}, false
	}
	return chains[i], true
}

func tokenOf(chain platformwire.Chain, symbol string) (platformwire.Token, bool) {
	i := slices.IndexFunc(chain.Tokens, func(t platformwire.Token) bool { return t.Symbol == symbol })
	if i < 0 {
		return platformwire.Token{}, false
	}
	return chain.Tokens[i], true
}

// ListChains lists the live chains.
func (p *Platform) ListChains(ctx context.Context, params platformwire.ListChainsParams) (wire.Response, error) {
	query := queryOf(wire.CallerOf(ctx), "ListChains")
	from, err := query.position(params.Cursor, 0)
	if err != nil {
		return wire.Response{}, err
	}
	page := platformwire.ChainPage{Items: chains[min(from, len(chains)):]}
	if limit := pageSize(params.Limit); len(page.Items) > limit {
		page.Items = page.Items[:limit]
		page.NextCursor = query.cursor(from + limit)
	}
	return wire.OK(page).Lean(), nil
}
