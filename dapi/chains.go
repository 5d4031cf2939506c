package dapi

import (
	"context"
	"iter"
	"math"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// Chains are the live chains.
//
// Source: Coverage catalogue.
type Chains struct {
	low  lowLevel
	live *liveChains
}

// Live answers all chains, from memory if they were asked for in the last ten minutes. While they are known, amounts
// are held to the live decimals of their token before they are sent. The slice is shared: do not change it.
func (s *Chains) Live(ctx context.Context) ([]Chain, error) {
	if err := transport.Of(s).low.ready(ctx, &opListChains); err != nil {
		return nil, err
	}
	return s.live.list(ctx)
}

// List answers one page.
func (s *Chains) List(
	ctx context.Context, params ListChainsParams, options ...moneymovement.CallOption,
) (*ChainPage, error) {
	return transport.Of(s).low.ListChains(ctx, &params, options)
}

// All walks all pages from params.Cursor on. It can be ranged over more than once, and ends after the first error.
func (s *Chains) All(
	ctx context.Context, params ListChainsParams, options ...moneymovement.CallOption,
) iter.Seq2[Chain, error] {
	return s.upTo(ctx, math.MaxInt, params, options)
}

// upTo walks at most so many pages.
func (s *Chains) upTo(
	ctx context.Context, most int, params ListChainsParams, options []moneymovement.CallOption,
) iter.Seq2[Chain, error] {
	return pages(ctx, most, &opListChains, s.List, params, options,
		func(p *ListChainsParams) *string { return &p.Cursor },
		func(page *ChainPage) ([]Chain, string) { return page.Items, page.NextCursor })
}

// The settlement assets: a client's balance is held in them, on Base.
//
// Source: Resources, Platform resources.
const (
	USDC = AssetUSDC
	EURC = AssetEURC
)
