package dapi

import (
	"context"
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
		return nil, &errors.NotDelivered{Head: opListChains.Head(""), Err: ctx.Err()}
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

// checkPlaces refuses an amount with more decimals than its token has. USDC and EURC are known without asking; for another asset the
// listing is asked for, and if it cannot be had the service decides.
//
// Source: Errors, Platform envelope (amount_precision).
func (l *liveChains) checkPlaces(ctx context.Context, operation string, validate func(*transport.Check), amount decimal.Decimal, asset Asset) error {
	chains, live := l.known()
	_, static := asset.decimals()
	if !live && !static && transport.Validate(operation, validate) == nil { // else the call itself refuses it
		chains, _ = l.list(ctx)
	}
	token, found := tokenOf(chains, asset)
	if places := -int(amount.Exponent()); !found || places <= token.Decimals || places > maxPlaces {
		return nil
	}
	if amount.Equal(amount.Truncate(int32(token.Decimals))) { //nolint:gosec // fewer than maxPlaces
		return nil
	}
	return &errors.InvalidInput{Head: errors.Head{Operation: operation}, Fields: []errors.Field{{
		Field: "amount", Code: errors.FieldAmountPrecision, Message: "has more decimals than the token",
	}}}
}

func tokenOf(chains []Chain, asset Asset) (Token, bool) {
	for _, chain := range chains {
		for _, token := range chain.Tokens {
			if chain.Code == settlementChain && token.Symbol == string(asset) {
				return token, true
			}
		}
	}
	return Token{}, false
}
