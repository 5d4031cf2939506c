package dapi_test

import (
	"context"
	"fmt"
	"log"

	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/internal/recorded"
)

// The list of chains says which tokens a payout or a payin can use, and how many decimals an amount may have.
func ExampleChains_Live() {
	server := recorded.Serve() // stands for the service
	defer server.Close()
	account, err := dapi.NewSelfServe(server.URL, dapi.Developer{Email: server.Email, Key: server.Key})
	if err != nil {
		log.Fatal(err)
	}
	chains, err := account.Chains.Live(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	for _, chain := range chains {
		fmt.Print(chain.Name, " (", chain.ChainID, "):")
		for _, token := range chain.Tokens {
			fmt.Print(" ", token.Symbol, "/", token.Decimals)
		}
		fmt.Println()
	}
	// Output:
	// Base (8453): USDC/6 EURC/6
	// Ethereum (1): USDC/6 EURC/6 USDT/6 DAI/18
	// Arbitrum One (42161): USDC/6 USDT/6
	// OP Mainnet (10): USDC/6 USDT/6
	// Polygon (137): USDC/6 USDT/6
}
