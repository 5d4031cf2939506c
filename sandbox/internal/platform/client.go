package platform

import (
	"context"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/platformwire"
)

// CreateClient creates a client of the integrator. Its email, in upper or lower case, is the natural key.
func (p *Platform) CreateClient(ctx context.Context, body platformwire.ClientCreate) (wire.Answer, error) {
	c := wire.CallerOf(ctx)
	t := p.enter()
	defer p.leave()
	if h, ok := t.emails[clientEmail(c.Owner, body.Email)]; ok {
		return wire.OK(t.clientView(h)).Lean().Replayed(), nil
	}
	client := platformwire.Client{
		ID:         newID("cl_"),
		Email:      body.Email,
		Type:       body.Type,
		FirstName:  body.FirstName,
		LastName:   body.LastName,
		EntityName: body.EntityName,
		Country:    body.Country,
		CreatedAt:  t.now,
	}
	h := t.openAccount(holderKey{c.Owner, client.ID}, client)
	return wire.Created(t.clientView(h)).Lean(), nil
}

// GetClient reads one client of the integrator.
func (p *Platform) GetClient(ctx context.Context, clientID platformwire.ClientID) (wire.Answer, error) {
	c := wire.CallerOf(ctx)
	t := p.enter()
	defer p.leave()
	h, ok := t.holders[holderKey{c.Owner, clientID}]
	if !ok || !h.isClient() {
		return wire.Answer{}, wire.NotFound()
	}
	return wire.OK(t.clientView(h)).Lean(), nil
}

// clientView returns the client as responses show it: pending, or ready with its wallet.
func (t *turn) clientView(h *holder) platformwire.Client {
	view := h.Client
	view.Status = platformwire.ClientStatusPending
	if t.ready(h) {
		view.Status = platformwire.ClientStatusReady
		view.BaseSmartWallet = h.Wallet
	}
	view.Balances = t.balances(h.book())
	return view
}

// balances lists the balance of a ledger account in each settlement asset.
func (t *turn) balances(account string) []platformwire.Balance {
	list := make([]platformwire.Balance, len(assets))
	for i, asset := range assets {
		list[i] = platformwire.Balance{Currency: platformwire.Asset(asset), Available: t.books.balance(account, asset)}
	}
	return list
}
