package platform

import (
	"context"
	"slices"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/platformwire"
)

// The chain on which every balance is held.
const (
	baseCode          = "base"
	baseID            = 8453
	assetDecimals     = 6
	settlementDollars = string(platformwire.AssetUSDC)
	settlementEuros   = string(platformwire.AssetEURC)
)

// assets are the settlement assets, in the order of balances.
var assets = []string{settlementDollars, settlementEuros}

// chains are the live chains. The contract addresses are the published ones of the tokens.
var chains = []platformwire.Chain{
	{ChainID: baseID, Code: baseCode, Name: "Base", Tokens: []platformwire.Token{
		{Symbol: "USDC", Decimals: assetDecimals, Address: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"},
		{Symbol: "EURC", Decimals: assetDecimals, Address: "0x60a3E35Cc302bFA44Cb288Bc5a4F316Fdb1adb42"},
	}},
	{ChainID: 1, Code: "ethereum", Name: "Ethereum", Tokens: []platformwire.Token{
		{Symbol: "USDC", Decimals: 6, Address: "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48"},
		{Symbol: "EURC", Decimals: 6, Address: "0x1aBaEA1f7C830bD89Acc67eC4af516284b1bC33c"},
		{Symbol: "USDT", Decimals: 6, Address: "0xdAC17F958D2ee523a2206206994597C13D831ec7"},
		{Symbol: "DAI", Decimals: 18, Address: "0x6B175474E89094C44Da98b954EedeAC495271d0F"},
	}},
	{ChainID: 42161, Code: "arbitrum", Name: "Arbitrum One", Tokens: []platformwire.Token{
		{Symbol: "USDC", Decimals: 6, Address: "0xaf88d065e77c8cC2239327C5EDb3A432268e5831"},
		{Symbol: "USDT", Decimals: 6, Address: "0xFd086bC7CD5C481DCC9C85ebE478A1C0b69FCbb9"},
	}},
	{ChainID: 10, Code: "optimism", Name: "OP Mainnet", Tokens: []platformwire.Token{
		{Symbol: "USDC", Decimals: 6, Address: "0x0b2C639c533813f4Aa9D7837CAf62653d097Ff85"},
		{Symbol: "USDT", Decimals: 6, Address: "0x94b008aA00579c1307B0EF2c499aD98a8ce58e58"},
	}},
	{ChainID: 137, Code: "polygon", Name: "Polygon", Tokens: []platformwire.Token{
		{Symbol: "USDC", Decimals: 6, Address: "0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359"},
		{Symbol: "USDT", Decimals: 6, Address: "0xc2132D05D31c914a87C6611C10748AEb04B58e8F"},
	}},
}

func chainByCode(code string) (platformwire.Chain, bool) {
	i := slices.IndexFunc(chains, func(c platformwire.Chain) bool { return c.Code == code })
	if i < 0 {
		return platformwire.Chain{}, false
	}
	return chains[i], true
}

func tokenOf(chain platformwire.Chain, symbol string) (platformwire.Token, bool) {
	i := slices.IndexFunc(chain.Tokens, func(t platformwire.Token) bool { return t.Symbol == symbol })
	if i < 0 {
		return platformwire.Token{}, false
	}
	return chain.Tokens[i], true
}

// ListChains lists the live chains.
func (p *Platform) ListChains(ctx context.Context, params platformwire.ListChainsParams) (wire.Answer, error) {
	query := queryOf(wire.CallerOf(ctx), "ListChains")
	from, err := query.position(params.Cursor, 0)
	if err != nil {
		return wire.Answer{}, err
	}
	page := platformwire.ChainPage{Items: chains[min(from, len(chains)):]}
	if limit := pageSize(params.Limit); len(page.Items) > limit {
		page.Items = page.Items[:limit]
		page.NextCursor = query.cursor(from + limit)
	}
	return wire.OK(page).Lean(), nil
}
