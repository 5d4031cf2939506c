package dapi

import (
	"context"
	"iter"
	"math"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// Chains lists the live chains: the blockchains that the service uses now, and their tokens.
type Chains struct {
	low  lowLevel
	live *liveChains
}

// Live returns all chains. The SDK keeps the list for ten minutes. All callers get the same slice, so do not modify it.
//
// The list is for display. It does not decide which chain an approval may name: see [Developer].ChainNames.
//
// While the SDK has the list, it also checks the amounts of payouts, deals and deposits: a call whose amount has more
// decimals than its token fails with *errors.InvalidInput, and nothing is sent.
func (s *Chains) Live(ctx context.Context) ([]Chain, error) {
	if err := transport.Of(s).low.ready(ctx, &opListChains); err != nil {
		return nil, err
	}
	return s.live.list(ctx)
}

// List returns one page of chains.
func (s *Chains) List(
	ctx context.Context, params ListChainsParams, options ...moneymovement.CallOption,
) (*ChainPage, error) {
	return transport.Of(s).low.ListChains(ctx, &params, options)
}

// All iterates over the chains of all pages, starting at params.Cursor. Each range reads the pages again. It stops
// after the first error.
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

// The assets that accounts hold, on the Base chain.
const (
	USDC = AssetUSDC
	EURC = AssetEURC
)
