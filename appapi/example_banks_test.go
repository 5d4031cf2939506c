package appapi_test

import (
	"context"
	"fmt"
	"log"

	"github.com/moneymovement/moneymovement-go/appapi"
	"github.com/moneymovement/moneymovement-go/internal/recorded"
)

// An activated rail has a bank account. Its requisites are what a payer needs to send money there.
func ExampleBanks_Activate() {
	server := recorded.Serve() // stands for the service
	defer server.Close()
	ctx := context.Background()
	app, err := appapi.New(server.URL, appapi.NewAPIKey(server.APIKey))
	if err != nil {
		log.Fatal(err)
	}
	if _, err = app.Banks.Activate(ctx, []string{"sepa"}); err != nil {
		log.Fatal(err)
	}

	banks, err := app.Banks.List(ctx)
	if err != nil {
		log.Fatal(err)
	}
	for _, bank := range banks {
		if bank.Method == "sepa" {
			fmt.Println(bank.Currency, bank.Status, "requisites:", len(bank.Requisites) > 0)
		}
	}
	// Output: EUR active requisites: true
}
