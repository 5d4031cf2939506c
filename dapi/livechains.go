package dapi

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// liveChains remembers the chain listing for all accounts of a credential. Chains and tokens come and go rarely.
type liveChains struct {
	low    lowLevel
	memory atomic.Pointer[chainListing]
	turn   chan struct{} // held while the service is asked
}

type chainListing struct {
	chains []Chain
	until  time.Time
}

// maxChainPages bounds a walk that a payment makes by itself: a thousand chains are more than there are.
const maxChainPages = 10

// chainsLifetime is how long a listing is taken for live.
const chainsLifetime = 10 * time.Minute

// maxPlaces is where the request's own check takes over, before a small exponent makes for large arithmetic.
const maxPlaces = 78

// settlementChain is the chain that balances are held on.
//
// Source: Resources, Platform resources.
const settlementChain ChainCode = "base"

func newLiveChains(low lowLevel) *liveChains {
	return &liveChains{low: low, turn: make(chan struct{}, 1)}
}

// known answers the chains without asking the service.
func (l *liveChains) known() ([]Chain, bool) {
	listing := l.memory.Load()
	if listing == nil || !time.Now().Before(listing.until) {
		return nil, false
	}
	return listing.chains, true
}

// list answers the chains, asking the service at most once per lifetime; callers at the same time share the answer.
func (l *liveChains) list(ctx context.Context) ([]Chain, error) {
	if chains, ok := l.known(); ok {
		return chains, nil
	}
	select {
	case l.turn <- struct{}{}:
		defer func() { <-l.turn }()
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

// codeOf is the code of a chain, as far as it is known without asking the service; else empty.
func (l *liveChains) codeOf(id ChainID) ChainCode {
	chains, _ := l.known()
	at := slices.IndexFunc(chains, func(c Chain) bool { return c.ChainID == id })
	if at < 0 {
		return ""
	}
	return chains[at].Code
}

// listingPatience bounds how long a payment waits for the listing while its approval is open.
const listingPatience = 5 * time.Second

// askCode is codeOf, and asks the service for the listing if it is not known.
func (l *liveChains) askCode(ctx context.Context, id ChainID) ChainCode {
	if id == 0 {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, listingPatience)
	defer cancel()
	_, _ = l.list(ctx) // without it, only the id will do
	return l.codeOf(id)
}

// checkPlaces refuses an amount with more decimals than its token has by the listing, as far as it is known without
// asking the service. Otherwise the service decides.
//
// Source: Errors, Platform envelope (amount_precision).
func (l *liveChains) checkPlaces(c *transport.Check, amount decimal.Decimal, asset Asset) {
	chains, _ := l.known()
	for _, token := range settlementTokens(chains) {
		if token.Symbol == string(asset) && token.Decimals <= maxPlaces {
			c.Places("amount", amount, int32(token.Decimals), token.Symbol) //gosec:disable G115 -- at most maxPlaces
		}
	}
}

// settlementTokens are the assets that a balance can be held in.
func settlementTokens(chains []Chain) []Token {
	for _, chain := range chains {
		if chain.Code == settlementChain {
			return chain.Tokens
		}
	}
	return nil
}
