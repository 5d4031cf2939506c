package dapi

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

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
