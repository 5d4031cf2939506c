package platform

import (
	"context"
	"time"

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
