package platform

import (
	"context"
	"time"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/caller"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/platformwire"
)

// SyncEscrow answers a deal, read from chain unless it was read a moment ago; then the stored projection is answered.
// Source: Limits, Lifetimes.
func (p *Platform) SyncEscrow(ctx context.Context, request platformwire.SyncEscrowRequestObject) (platformwire.SyncEscrowResponseObject, error) {
	t := p.enter()
	defer p.leave()
	h, err := t.holderOf(caller.From(ctx))
	if err != nil {
		return nil, err
	}
	found, err := t.dealOf(h, request.EscrowID)
	if err != nil {
		return nil, err
	}
	t.readChain(found)
	return escrowAnswer{http200, found.view(t.now)}, nil
}

// readChain brings the projection up to date, once in a while: one chain read per 15 seconds and deal.
func (t *turn) readChain(d *deal) {
	if !d.syncedAt.IsZero() && t.now.Before(d.syncedAt.Add(time.Duration(t.settings.ChainReadEvery))) {
		return
	}
	d.projected, d.syncedAt = d.chain, t.now
}
