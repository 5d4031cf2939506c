package platform

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/platformwire"
)

// payin is an incoming payment, from its quote on.
type payin struct {
	ID        string
	Account   holderKey
	holder    *holder
	Terms     platformwire.PayinCreate
	rail      *rail // of a bank payin
	CreatedAt time.Time

	Status     platformwire.PayinStatus
	Quote      platformwire.Quote
	Requisites platformwire.Requisites // the instructions for the payer
	Asked      fingerprint             // identify Terms
}

// payinKey is the natural key of a payin: the account and the terms.
type payinKey struct {
	account holderKey
	asked   fingerprint
}

// expired reports whether the price has expired before the money arrived.
func (p *payin) expired(now time.Time) bool {
	return p.Status != platformwire.PayinStatusCompleted && !now.Before(p.Quote.ExpiresAt)
}

// statusAt returns the status at a time: nothing is stored when a price expires.
func (p *payin) statusAt(now time.Time) platformwire.PayinStatus {
	if p.expired(now) {
		return platformwire.PayinStatusExpired
	}
	return p.Status
}

// asset returns the asset that the account receives.
func (p *payin) asset() platformwire.Asset { return platformwire.Asset(p.Quote.DestinationCurrency) }

// CreatePayin prices an incoming payment over a virtual account or from another chain. The same terms return the same
// payin while it is quoted.
func (p *Platform) CreatePayin(ctx context.Context, body platformwire.PayinCreate) (wire.Response, error) {
	c := wire.CallerOf(ctx)
	if (body.BankID == "") == (body.OriginChainID == 0) {
		return wire.Response{}, wire.ValidationFailed("",
			wire.Field{Field: "bankId", Code: "exactly_one",
				Message: "Give exactly one of bankId and originChainId."},
			wire.Field{Field: "originChainId", Code: "exactly_one",
				Message: "Give exactly one of bankId and originChainId."})
	}
	_, requested, _, err := keyOf(c, "CreatePayin", body)
	if err != nil {
		return wire.Response{}, err
	}
	t := p.begin()
	defer p.commit()
	h, err := t.holderOf(c)
	if err != nil {
		return wire.Response{}, err
	}
	key := payinKey{h.Key, requested}
	known := t.payinsByTerms[key]
	if known != nil && known.Status == platformwire.PayinStatusQuoted && !known.expired(t.now) {
		return wire.OK(known.view(t.now)).Lean().Replayed(), nil
	}
	quoted, err := t.quotePayin(h, body)
	if err != nil {
		return wire.Response{}, err
	}
	quoted.Asked = requested
	t.payins[quoted.ID], t.payinsByTerms[key] = quoted, quoted
	t.store.payins.Put(quoted)
	return wire.Created(quoted.view(t.now)).Lean(), nil
}

// payinOf finds a payin of the account.
func (t *txn) payinOf(h *holder, id string) (*payin, error) {
	payin, ok := t.payins[id]
	if !ok || payin.holder != h {
		return nil, wire.NotFound()
	}
	return payin, nil
}

// GetPayin reads one payin.
func (p *Platform) GetPayin(ctx context.Context, payinID platformwire.PayinID) (wire.Response, error) {
	t := p.begin()
	defer p.commit()
	h, err := t.holderOf(wire.CallerOf(ctx))
	if err != nil {
		return wire.Response{}, err
	}
	payin, err := t.payinOf(h, payinID)
	if err != nil {
		return wire.Response{}, err
	}
	return wire.OK(payin.view(t.now)).Lean(), nil
}

// CreatePayinInstructions returns what the payer needs, and accepts the quote. The payin then waits for its money.
// Asking again returns the same instructions.
func (p *Platform) CreatePayinInstructions(ctx context.Context, payinID platformwire.PayinID) (wire.Response, error) {
	t := p.begin()
	defer p.commit()
	h, err := t.holderOf(wire.CallerOf(ctx))
	if err != nil {
		return wire.Response{}, err
	}
	payin, err := t.payinOf(h, payinID)
	if err != nil {
		return wire.Response{}, err
	}
	if payin.expired(t.now) {
		return wire.Response{}, wire.QuoteExpired()
	}
	instructions := platformwire.PayinInstructions{Requisites: payin.Requisites}
	if payin.Status == platformwire.PayinStatusQuoted {
		payin.Status = platformwire.PayinStatusAwaitingFunds
		t.store.payins.Put(payin)
		return wire.Created(instructions).Lean(), nil
	}
	return wire.OK(instructions).Lean().Replayed(), nil
}

// view returns the payin as responses show it.
func (p *payin) view(now time.Time) platformwire.Payin {
	quote := p.Quote
	view := platformwire.Payin{
		ID:             p.ID,
		Status:         p.statusAt(now),
		Amount:         p.Terms.Amount,
		Currency:       p.Terms.Currency,
		BankID:         p.Terms.BankID,
		OriginChainID:  p.Terms.OriginChainID,
		MaxAmount:      p.Terms.MaxAmount,
		Quote:          &quote,
		DepositAddress: p.Requisites.WalletAddress,
		CreatedAt:      p.CreatedAt,
	}
	return view
}

// quotePayin prices a payin and fixes the instructions for its payer.
func (t *txn) quotePayin(h *holder, body platformwire.PayinCreate) (*payin, error) {
	if !t.hasWallet(h) {
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
	route := t.routeFromChain
	if body.BankID != "" {
		route = t.routeOverBank
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

// routeOverBank routes a payin over one of the account's virtual accounts, which costs nothing. It returns the fee and
// the decimals of the currency.
func (t *txn) routeOverBank(quoted *payin) (fee decimal.Decimal, decimals int32, err error) {
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
	quoted.rail, quoted.Requisites = over, over.requisites(quoted.holder)
	quoted.Requisites.Reference = referenceOf(quoted.ID)
	return fee, fiatDecimals(over.Currency), nil
}

// railByID finds a virtual account by the id that the list shows once it is active.
func (t *txn) railByID(h *holder, id string) (*rail, error) {
	for _, opened := range h.Rails {
		if opened.ID == id && !t.now.Before(opened.activeAt(t.settings)) {
			return opened, nil
		}
	}
	return nil, wire.NotFound()
}

// routeFromChain routes a payin from another chain. Money on Base needs no payin: it is balance when it arrives.
func (t *txn) routeFromChain(quoted *payin) (fee decimal.Decimal, decimals int32, err error) {
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
func (t *txn) payinQuote(body platformwire.PayinCreate, fee decimal.Decimal) (platformwire.Quote, error) {
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

// CompletePayin credits a payin as if its money had arrived. Like every emulated credit it comes from the faucet,
// within the faucet's limits. A completed payin stays as it is.
func (p *Platform) CompletePayin(ctx context.Context, payinID platformwire.PayinID) (wire.Response, error) {
	c := wire.CallerOf(ctx)
	key, requested, lifetime, err := keyOf(c, "CompletePayin", payinID)
	if err != nil {
		return wire.Response{}, err
	}
	t := p.begin()
	defer p.commit()
	h, err := t.holderOf(c)
	if err != nil {
		return wire.Response{}, err
	}
	if completed, payin, same := t.completions.find(key, requested, t.now); payin {
		if !same {
			return wire.Response{}, wire.IdempotencyKeyReused("", "")
		}
		return wire.OK(completed).Lean().Replayed(), nil
	}
	incoming, err := t.payinOf(h, payinID)
	if err != nil {
		return wire.Response{}, err
	}
	if incoming.Status != platformwire.PayinStatusCompleted {
		if err := t.checkArrival(incoming, t.settings.MaxCredit); err != nil {
			return wire.Response{}, err
		}
		t.creditPayin(incoming)
	}
	view := incoming.view(t.now)
	view.IdempotencyKey = key.Key
	t.completions.put(key, requested, view, t.now, lifetime)
	return wire.OK(view).Lean(), nil
}

// creditPayin credits the amount of the quote.
func (t *txn) creditPayin(incoming *payin) {
	credit := incoming.credit()
	incoming.Status = platformwire.PayinStatusCompleted
	t.store.payins.Put(incoming)
	t.ledger.movement("payin", incoming.ID, t.now).
		transfer(accountFaucet, incoming.holder.ledgerAccount(), string(credit.Currency), credit.Amount)
	t.record(incoming.holder, platformwire.Transaction{
		Type:            platformwire.TransactionTypePayin,
		Direction:       platformwire.TransactionDirectionIn,
		Status:          platformwire.TransactionStatusCompleted,
		Amount:          credit.Amount,
		Currency:        credit.Currency,
		PayinID:         incoming.ID,
		TransactionHash: newHash(),
		CreatedAt:       t.now,
	})
}

// credit is what the account receives.
func (p *payin) credit() platformwire.DepositCreate {
	return platformwire.DepositCreate{Amount: p.Quote.DestinationAmount, Currency: p.asset()}
}

// checkArrival refuses money that cannot arrive: the price has expired, nobody has asked for the instructions, the
// virtual account's channel is down, or the faucet does not pay it. most is the largest credit.
func (t *txn) checkArrival(incoming *payin, most decimal.Decimal) error {
	switch {
	case incoming.expired(t.now):
		return wire.QuoteExpired()
	case incoming.Status == platformwire.PayinStatusQuoted:
		return wire.QuoteNotSubmitted()
	case incoming.rail != nil && t.railStatus(incoming.rail, incoming.rail.Method) != platformwire.RailStatusActive:
		return wire.PayoutNotFundable("The virtual account cannot receive money at present.", nil)
	default:
		return t.checkCreditable(incoming.holder, incoming.credit(), most)
	}
}
