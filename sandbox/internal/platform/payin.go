package platform

import (
	"context"
	"time"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/caller"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/refuse"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/serve"
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
func (p *Platform) CreatePayin(ctx context.Context, body platformwire.PayinCreate) (serve.Answer, error) {
	c := caller.From(ctx)
	if (body.BankID == "") == (body.OriginChainID == 0) {
		return serve.Answer{}, refuse.ValidationFailed("",
			refuse.Field{Field: "bankId", Code: "exactly_one",
				Message: "Give exactly one of bankId and originChainId."},
			refuse.Field{Field: "originChainId", Code: "exactly_one",
				Message: "Give exactly one of bankId and originChainId."})
	}
	_, asked, _, err := anchorOf(c, "CreatePayin", body)
	if err != nil {
		return serve.Answer{}, err
	}
	t := p.enter()
	defer p.leave()
	h, err := t.holderOf(c)
	if err != nil {
		return serve.Answer{}, err
	}
	key := payinKey{h.Key, asked}
	if known := t.quoted[key]; known != nil && known.Status == platformwire.PayinStatusQuoted && !known.expired(t.now) {
		return serve.OK(known.view(t.now)).Lean().Replayed(), nil
	}
	quoted, err := t.quotePayin(h, body)
	if err != nil {
		return serve.Answer{}, err
	}
	quoted.Asked = asked
	t.payins[quoted.ID], t.quoted[key] = quoted, quoted
	t.kept.payins.Put(quoted)
	return serve.Created(quoted.view(t.now)).Lean(), nil
}

// payinOf finds a payin of the account.
func (t *turn) payinOf(h *holder, id string) (*payin, error) {
	found, ok := t.payins[id]
	if !ok || found.holder != h {
		return nil, refuse.NotFound()
	}
	return found, nil
}

// GetPayin reads one payin.
func (p *Platform) GetPayin(ctx context.Context, payinID platformwire.PayinID) (serve.Answer, error) {
	t := p.enter()
	defer p.leave()
	h, err := t.holderOf(caller.From(ctx))
	if err != nil {
		return serve.Answer{}, err
	}
	found, err := t.payinOf(h, payinID)
	if err != nil {
		return serve.Answer{}, err
	}
	return serve.OK(found.view(t.now)).Lean(), nil
}

// CreatePayinInstructions returns what the payer needs, and accepts the quote. The payin then waits for its money.
// Asking again returns the same instructions.
func (p *Platform) CreatePayinInstructions(ctx context.Context, payinID platformwire.PayinID) (serve.Answer, error) {
	t := p.enter()
	defer p.leave()
	h, err := t.holderOf(caller.From(ctx))
	if err != nil {
		return serve.Answer{}, err
	}
	found, err := t.payinOf(h, payinID)
	if err != nil {
		return serve.Answer{}, err
	}
	if found.expired(t.now) {
		return serve.Answer{}, refuse.QuoteExpired()
	}
	instructions := platformwire.PayinInstructions{Requisites: found.Requisites}
	if found.Status == platformwire.PayinStatusQuoted {
		found.Status = platformwire.PayinStatusAwaitingFunds
		t.kept.payins.Put(found)
		return serve.Created(instructions).Lean(), nil
	}
	return serve.OK(instructions).Lean().Replayed(), nil
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
