package platform

import (
	"crypto/rand"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/platformwire"
)

// quotePayin prices a payin and fixes the instructions for its payer.
func (t *turn) quotePayin(h *holder, body platformwire.PayinCreate) (*payin, error) {
	if !t.ready(h) {
		return nil, wire.WalletNotLinked()
	}
	quoted := &payin{
		ID:        newID("pi_"),
		Account:   h.Key,
		holder:    h,
		Terms:     body,
		CreatedAt: t.now,
		Status:    platformwire.PayinStatusQuoted,
	}
	route := t.fromChain
	if body.BankID != "" {
		route = t.overBank
	}
	fee, decimals, err := route(quoted)
	if err != nil {
		return nil, err
	}
	if err := checkPayinAmounts(body, decimals); err != nil {
		return nil, err
	}
	if quoted.Quote, err = t.payinQuote(body, fee); err != nil {
		return nil, err
	}
	return quoted, nil
}

// overBank routes a payin over one of the account's virtual accounts, which costs nothing. It returns the fee and the
// decimals of the currency.
func (t *turn) overBank(quoted *payin) (fee decimal.Decimal, decimals int32, err error) {
	over, err := t.railByID(quoted.holder, quoted.Terms.BankID)
	if err != nil {
		return fee, 0, err
	}
	switch {
	case over.Currency != quoted.Terms.Currency:
		return fee, 0,
			wire.InvalidField("currency", "currency_mismatch", "The virtual account receives "+over.Currency+".")
	case t.settings.PartnerDown, t.railStatus(over, over.Method) != platformwire.RailStatusActive:
		return fee, 0, wire.ProviderUnavailable("The rail is unavailable.")
	}
	quoted.over, quoted.Requisites = over, over.requisites(quoted.holder)
	quoted.Requisites.Reference = referenceOf(quoted.ID)
	return fee, fiatDecimals(over.Currency), nil
}

// railByID finds a virtual account by the id that the list shows once it is active.
func (t *turn) railByID(h *holder, id string) (*rail, error) {
	for _, opened := range h.Rails {
		if opened.ID == id && !t.now.Before(opened.activeAt(t.settings)) {
			return opened, nil
		}
	}
	return nil, wire.NotFound()
}

// fromChain routes a payin from another chain. Money on Base needs no payin: it is balance when it arrives.
func (t *turn) fromChain(quoted *payin) (fee decimal.Decimal, decimals int32, err error) {
	origin := slices.IndexFunc(chains, func(c platformwire.Chain) bool {
		return c.ChainID == quoted.Terms.OriginChainID
	})
	switch {
	case origin < 0:
		return fee, 0,
			wire.InvalidField("originChainId", "chain_not_live", "The service does not support this chain.")
	case quoted.Terms.OriginChainID == baseID:
		return fee, 0,
			wire.InvalidField("originChainId", "chain_mismatch",
				"Money on Base needs no payin: send it to the account's wallet.")
	}
	token, listed := tokenOf(chains[origin], quoted.Terms.Currency)
	if !listed {
		return fee, 0, wire.InvalidField("currency", "token_not_listed", "The chain does not list this token.")
	}
	quoted.Requisites = platformwire.Requisites{WalletAddress: newAddress(), Reference: referenceOf(quoted.ID)}
	return feeCrossChain, int32(token.Decimals), nil //gosec:disable G115 -- the chains list 6 to 18
}

// checkPayinAmounts refuses amounts that are not positive or have too many decimals, and a maximum below the amount.
func checkPayinAmounts(body platformwire.PayinCreate, decimals int32) error {
	if err := checkAmountOf("amount", body.Amount, decimals); err != nil || body.MaxAmount.IsZero() {
		return err
	}
	if err := checkAmountOf("maxAmount", body.MaxAmount, decimals); err != nil {
		return err
	}
	if body.MaxAmount.LessThan(body.Amount) {
		return wire.InvalidField("maxAmount", "greater_than_equal", "maxAmount must not be less than amount.")
	}
	return nil
}

// payinQuote prices the incoming amount. Euros become the euro asset, everything else the dollar asset.
func (t *turn) payinQuote(body platformwire.PayinCreate, fee decimal.Decimal) (platformwire.Quote, error) {
	asset := settlementDollars
	if fiatOf(body.Currency) == fiatOf(settlementEuros) {
		asset = settlementEuros
	}
	rate := t.rate(body.Currency, asset)
	quote := platformwire.Quote{
		SourceAmount:        body.Amount,
		SourceCurrency:      body.Currency,
		DestinationAmount:   body.Amount.Sub(fee).Mul(rate).Truncate(assetDecimals),
		DestinationCurrency: asset,
		Rate:                rate,
		Fee:                 fee,
		ExpiresAt:           t.now.Add(time.Duration(t.settings.QuoteLifetime)),
	}
	if !quote.DestinationAmount.IsPositive() {
		return platformwire.Quote{},
			wire.InvalidField("amount", "amount_below_fee", "The amount is not more than the fee.")
	}
	return quote, nil
}

// referenceOf returns the payment reference by which money finds its payin.
func referenceOf(id string) string { return strings.ToUpper(id[len("pi_"):][:12]) }

// newAddress returns a random address.
func newAddress() string {
	var address [20]byte
	_, _ = rand.Read(address[:]) // never fails
	return "0x" + hex.EncodeToString(address[:])
}
