package platform

import (
	"context"
	"time"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/caller"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/serve"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/platformwire"
)

// SyncEscrow returns a deal after a chain read. If the last read was a moment ago, it returns the stored deal.
func (p *Platform) SyncEscrow(ctx context.Context, escrowID platformwire.EscrowID) (serve.Answer, error) {
	t := p.enter()
	defer p.leave()
	h, err := t.holderOf(caller.From(ctx))
	if err != nil {
		return serve.Answer{}, err
	}
	found, err := t.dealOf(h, escrowID)
	if err != nil {
		return serve.Answer{}, err
	}
	t.readChain(found)
	return serve.OK(found.view(t.now)).Lean(), nil
}

// readChain updates the stored deal, with at most one chain read per 15 seconds and deal.
func (t *turn) readChain(d *deal) {
	if !d.SyncedAt.IsZero() && t.now.Before(d.SyncedAt.Add(time.Duration(t.settings.ChainReadEvery))) {
		return
	}
	d.Projected, d.SyncedAt = d.Chain, t.now
	t.kept.deals.Put(d)
}
