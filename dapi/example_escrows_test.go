package dapi_test

import (
	"context"
	"fmt"
	"log"

	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/internal/recorded"
)

// Sync reads a deal from the chain. The service reads the chain at most once in 15 seconds for each deal. Between these
// reads, it returns the deal that it has stored.
func ExampleEscrows_Sync() {
	server := recorded.Serve() // stands for the service
	defer server.Close()
	ctx := context.Background()
	account, err := dapi.NewSelfServe(server.URL, dapi.Developer{Email: server.Email, Key: server.Key})
	if err != nil {
		log.Fatal(err)
	}
	if _, err = account.Sandbox.Deposit(ctx,
		dapi.DepositCreate{Amount: decimal.NewFromInt(100), Currency: dapi.USDC}); err != nil {
		log.Fatal(err)
	}
	opened, err := account.Escrows.Open(ctx, dapi.EscrowCreate{
		Amount: decimal.NewFromInt(40), Currency: dapi.USDC, Payee: "0x52908400098527886E0F7030069857D2E4169EE7",
	}, "order-7", dapi.DealTerms{})
	if err != nil {
		log.Fatal(err)
	}

	deal, err := account.Escrows.Sync(ctx, opened.Escrow.ID)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(deal.Status, deal.Amount, deal.Currency, deal.AvailableActions)
	// Output: active 40 USDC [release]
}
