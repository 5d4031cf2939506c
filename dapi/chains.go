package dapi

import (
	"context"
	"iter"
	"math"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// Chains lists the live chains and their tokens.
type Chains struct {
	low  lowLevel
	live *liveChains
}

// Live returns all chains. It keeps the list for ten minutes and shares the slice between callers: do not change it.
//
// While the list is known, the SDK checks amounts before it sends them: an amount with more decimals than its token has
// is *errors.InvalidInput.
func (s *Chains) Live(ctx context.Context) ([]Chain, error) {
	if err := transport.Of(s).low.ready(ctx, &opListChains); err != nil {
		return nil, err
	}
	return s.live.list(ctx)
}

// List returns one page.
func (s *Chains) List(
	ctx context.Context, params ListChainsParams, options ...moneymovement.CallOption,
) (*ChainPage, error) {
	return transport.Of(s).low.ListChains(ctx, &params, options)
}

// All iterates over all pages, from params.Cursor on. You can range over it more than once. It stops after the first
// error.
func (s *Chains) All(
	ctx context.Context, params ListChainsParams, options ...moneymovement.CallOption,
) iter.Seq2[Chain, error] {
	return s.upTo(ctx, math.MaxInt, params, options)
}

// upTo is All with a limit on the number of pages.
func (s *Chains) upTo(
	ctx context.Context, most int, params ListChainsParams, options []moneymovement.CallOption,
) iter.Seq2[Chain, error] {
	return pages(ctx, most, &opListChains, s.List, params, options,
		func(p *ListChainsParams) *string { return &p.Cursor },
		func(page *ChainPage) ([]Chain, string) { return page.Items, page.NextCursor })
}

// The settlement assets. A client's balance is held in them, on Base.
const (
	USDC = AssetUSDC
	EURC = AssetEURC
)
