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
	over      *rail // of a bank payin
	CreatedAt time.Time

	Status     platformwire.PayinStatus
	Quote      platformwire.Quote
	Requisites platformwire.Requisites // the instructions for the payer
	Asked      terms                   // identify Terms
}

// payinKey is the natural key of a payin: the account and the terms.
type payinKey struct {
	account holderKey
	asked   terms
}

// expired reports whether a payin that nobody funded has an expired price.
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
func (p *Platform) CreatePayin(ctx context.Context, body platformwire.PayinCreate) (wire.Answer, error) {
	c := wire.CallerOf(ctx)
	if (body.BankID == "") == (body.OriginChainID == 0) {
		return wire.Answer{}, wire.ValidationFailed("",
			wire.Field{Field: "bankId", Code: "exactly_one",
				Message: "Give exactly one of bankId and originChainId."},
			wire.Field{Field: "originChainId", Code: "exactly_one",
				Message: "Give exactly one of bankId and originChainId."})
	}
	_, asked, _, err := anchorOf(c, "CreatePayin", body)
	if err != nil {
		return wire.Answer{}, err
	}
	t := p.enter()
	defer p.leave()
	h, err := t.holderOf(c)
	if err != nil {
		return wire.Answer{}, err
	}
	key := payinKey{h.Key, asked}
	if known := t.quoted[key]; known != nil && known.Status == platformwire.PayinStatusQuoted && !known.expired(t.now) {
		return wire.OK(known.view(t.now)).Lean().Replayed(), nil
	}
	quoted, err := t.quotePayin(h, body)
	if err != nil {
		return wire.Answer{}, err
	}
	quoted.Asked = asked
	t.payins[quoted.ID], t.quoted[key] = quoted, quoted
	t.kept.payins.Put(quoted)
	return wire.Created(quoted.view(t.now)).Lean(), nil
}

// payinOf finds a payin of the account.
func (t *turn) payinOf(h *holder, id string) (*payin, error) {
	found, ok := t.payins[id]
	if !ok || found.holder != h {
		return nil, wire.NotFound()
	}
	return found, nil
}

// GetPayin reads one payin.
func (p *Platform) GetPayin(ctx context.Context, payinID platformwire.PayinID) (wire.Answer, error) {
	t := p.enter()
	defer p.leave()
	h, err := t.holderOf(wire.CallerOf(ctx))
	if err != nil {
		return wire.Answer{}, err
	}
	found, err := t.payinOf(h, payinID)
	if err != nil {
		return wire.Answer{}, err
	}
	return wire.OK(found.view(t.now)).Lean(), nil
}

// CreatePayinInstructions returns what the payer needs, and accepts the quote. The payin then waits for its money.
// Asking again returns the same instructions.
func (p *Platform) CreatePayinInstructions(ctx context.Context, payinID platformwire.PayinID) (wire.Answer, error) {
	t := p.enter()
	defer p.leave()
	h, err := t.holderOf(wire.CallerOf(ctx))
	if err != nil {
		return wire.Answer{}, err
	}
	found, err := t.payinOf(h, payinID)
	if err != nil {
		return wire.Answer{}, err
	}
	if found.expired(t.now) {
		return wire.Answer{}, wire.QuoteExpired()
	}
	instructions := platformwire.PayinInstructions{Requisites: found.Requisites}
	if found.Status == platformwire.PayinStatusQuoted {
		found.Status = platformwire.PayinStatusAwaitingFunds
		t.kept.payins.Put(found)
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

// CompletePayin credits a payin as if its money had arrived. Like every emulated credit it comes from the faucet,
// within the faucet's limits. A completed payin stays as it is.
func (p *Platform) CompletePayin(ctx context.Context, payinID platformwire.PayinID) (wire.Answer, error) {
	c := wire.CallerOf(ctx)
	key, asked, lifetime, err := anchorOf(c, "CompletePayin", payinID)
	if err != nil {
		return wire.Answer{}, err
	}
	t := p.enter()
	defer p.leave()
	h, err := t.holderOf(c)
	if err != nil {
		return wire.Answer{}, err
	}
	if completed, found, same := t.completions.find(key, asked, t.now); found {
		if !same {
			return wire.Answer{}, wire.IdempotencyKeyReused("", "")
		}
		return wire.OK(completed).Lean().Replayed(), nil
	}
	arriving, err := t.payinOf(h, payinID)
	if err != nil {
		return wire.Answer{}, err
	}
	if arriving.Status != platformwire.PayinStatusCompleted {
		if err := t.arrivable(arriving, t.settings.MaxCredit); err != nil {
			return wire.Answer{}, err
		}
		t.arrive(arriving)
	}
	view := arriving.view(t.now)
	view.IdempotencyKey = key.Key
	t.completions.keep(key, asked, view, t.now, lifetime)
	return wire.OK(view).Lean(), nil
}

// arrive credits the amount of the quote.
func (t *turn) arrive(arriving *payin) {
	credit := arriving.credit()
	arriving.Status = platformwire.PayinStatusCompleted
	t.kept.payins.Put(arriving)
	t.books.movement("payin", arriving.ID, t.now).
		transfer(bookFaucet, arriving.holder.book(), string(credit.Currency), credit.Amount)
	t.record(arriving.holder, platformwire.Transaction{
		Type:            platformwire.TransactionTypePayin,
		Direction:       platformwire.TransactionDirectionIn,
		Status:          platformwire.TransactionStatusCompleted,
		Amount:          credit.Amount,
		Currency:        credit.Currency,
		PayinID:         arriving.ID,
		TransactionHash: newHash(),
		CreatedAt:       t.now,
	})
}

// credit is what the account receives.
func (p *payin) credit() platformwire.DepositCreate {
	return platformwire.DepositCreate{Amount: p.Quote.DestinationAmount, Currency: p.asset()}
}

// arrivable refuses money that cannot arrive: the price has expired, nobody has asked for the instructions, the virtual
// account's channel is down, or the faucet does not pay it. most is the largest credit.
func (t *turn) arrivable(arriving *payin, most decimal.Decimal) error {
	switch {
	case arriving.expired(t.now):
		return wire.QuoteExpired()
	case arriving.Status == platformwire.PayinStatusQuoted:
		return wire.QuoteNotSubmitted()
	case arriving.over != nil && t.railStatus(arriving.over, arriving.over.Method) != platformwire.RailStatusActive:
		return wire.PayoutNotFundable("The virtual account cannot receive money at present.", nil)
	default:
		return t.creditable(arriving.holder, arriving.credit(), most)
	}
}
