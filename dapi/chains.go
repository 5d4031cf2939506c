package dapi

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"sync/atomic"
	"time"

	"github.com/shopspring/decimal"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/transport"
	"github.com/moneymovement/moneymovement-go/signing"
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
// While the SDK has the list, it also checks the amounts of payouts, escrows and deposits: a call whose amount has more
// decimals than its token fails with *errors.InvalidInput, and nothing is sent.
func (s *Chains) Live(ctx context.Context) ([]Chain, error) {
	if err := transport.OrNew(s).low.ready(ctx, &opListChains); err != nil {
		return nil, err
	}
	return s.live.list(ctx)
}

// List returns one page of chains.
func (s *Chains) List(
	ctx context.Context, params ListChainsParams, options ...moneymovement.CallOption,
) (*ChainPage, error) {
	return transport.OrNew(s).low.ListChains(ctx, &params, options)
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

// chainNames has the chain of each code that an approval may use.
type chainNames map[ChainCode]ChainID

// newChainNames returns the codes that the SDK knows, and those of [Developer.ChainNames].
func newChainNames(added map[ChainCode]ChainID) (chainNames, error) {
	names := chainNames(maps.Clone(chainIDs))
	return names, transport.Validate("New", func(c *transport.Check) {
		for code, id := range added {
			switch known := names[code]; {
			case id < 1:
				c.Refuse("chainNames", "out_of_range", "must have the EVM id of the chain, which is positive")
			case !code.plausible():
				c.Refuse("chainNames", "invalid_format", "must have the code of the chain, such as base")
			case known != 0 && known != id:
				c.Refuse("chainNames", "conflict",
					fmt.Sprintf("must not give %s to chain %d, because it names chain %d", code, id, known))
			default:
				names[code] = id
			}
		}
	})
}

// plausible reports a short word. A number is not plausible: it would be the id of another chain.
func (c ChainCode) plausible() bool {
	const longest = 32
	letters := 0
	for i, r := range []byte(c) {
		switch {
		case 'a' <= r|' ' && r|' ' <= 'z':
			letters++
		case '0' <= r && r <= '9':
		case i == 0, r != '.' && r != '_' && r != ':' && r != '-':
			return false
		}
	}
	return letters > 0 && len(c) <= longest
}

// codeOf returns the first code of a chain, or "".
func (n chainNames) codeOf(id ChainID) ChainCode {
	for _, code := range slices.Sorted(maps.Keys(n)) {
		if n[code] == id {
			return code
		}
	}
	return ""
}

// explained adds a hint to the refusal of an approval whose chain code the SDK does not know: how to allow the code.
func (n chainNames) explained(err error, id ChainID) error {
	refused, ok := errors.AsType[*signing.ApprovalRefused](err)
	if !ok || refused.Field != "destination.chainId" {
		return err
	}
	code := ChainCode(refused.Got)
	if _, known := n[code]; known || id == 0 || refused.Err != nil || !code.plausible() {
		return err
	}
	named := *refused // it can belong to a verifier, which may share it
	named.Reason += fmt.Sprintf("; if you know that the service names chain %d like that, "+
		"add %q: %d to the ChainNames of the dapi.Developer", id, code, id)
	return &named
}

// liveChains keeps the list of chains for all accounts of a credential. Chains and tokens rarely change.
type liveChains struct {
	low      lowLevel
	memory   atomic.Pointer[chainListing]
	fetching chan struct{} // held while the service is asked
}

type chainListing struct {
	chains []Chain
	until  time.Time
}

// maxChainPages limits the pages that a payment reads by itself. A thousand chains are more than there are.
const maxChainPages = 10

// chainsLifetime is how long a list is used before it is read again.
const chainsLifetime = 10 * time.Minute

// maxPlaces is the largest number of decimals that is compared here. The check of each request refuses amounts with
// more decimals, because computing with them takes too long.
const maxPlaces = 78

// settlementChain is the chain on which balances are held.
const settlementChain ChainCode = "base"

func newLiveChains(low lowLevel) *liveChains {
	return &liveChains{low: low, fetching: make(chan struct{}, 1)}
}

// known returns the chains without a call to the service.
func (l *liveChains) known() ([]Chain, bool) {
	listing := l.memory.Load()
	if listing == nil || !time.Now().Before(listing.until) {
		return nil, false
	}
	return listing.chains, true
}

// list returns the chains. It reads them at most once in a lifetime; callers at the same time share one read.
func (l *liveChains) list(ctx context.Context) ([]Chain, error) {
	if chains, ok := l.known(); ok {
		return chains, nil
	}
	select {
	case l.fetching <- struct{}{}:
		defer func() { <-l.fetching }()
	case <-ctx.Done():
		return nil, &errors.NotDelivered{CallInfo: opListChains.Head(""), Err: ctx.Err()}
	}
	if chains, ok := l.known(); ok {
		return chains, nil
	}
	var chains []Chain
	for chain, err := range (&Chains{low: l.low}).upTo(ctx, maxChainPages, ListChainsParams{Limit: maxPage}, nil) {
		if err != nil {
			return nil, err
		}
		chains = append(chains, chain)
	}
	l.memory.Store(&chainListing{chains: chains, until: time.Now().Add(chainsLifetime)})
	return chains, nil
}

// checkPlaces refuses an amount with more decimals than its token has. It makes no call to the service: if the chains
// are not known, the service decides (amount_precision).
func (l *liveChains) checkPlaces(c *transport.Check, amount decimal.Decimal, asset Asset) {
	if l == nil { // no constructor made the client
		return
	}
	chains, _ := l.known()
	for _, token := range settlementTokens(chains) {
		if token.Symbol == string(asset) && token.Decimals <= maxPlaces {
			c.Places("amount", amount, int32(token.Decimals), token.Symbol) //gosec:disable G115 -- at most maxPlaces
		}
	}
}

// settlementTokens returns the assets in which a balance can be held.
func settlementTokens(chains []Chain) []Token {
	for _, chain := range chains {
		if chain.Code == settlementChain {
			return chain.Tokens
		}
	}
	return nil
}
