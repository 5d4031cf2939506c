package appapi_test

import (
	"context"
	"fmt"
	"log"

	"github.com/moneymovement/moneymovement-go/appapi"
	"github.com/moneymovement/moneymovement-go/internal/recorded"
)

// All reads page after page. Here it returns only the money that came in.
func ExampleTransactions_All() {
	server := recorded.Serve() // stands for the service
	defer server.Close()
	app, err := appapi.New(server.URL, appapi.NewAPIKey(server.APIKey))
	if err != nil {
		log.Fatal(err)
	}
	params := appapi.ListTransactionsParams{Limit: 100, IncomeOnly: true}
	for entry, err := range app.Transactions.All(context.Background(), params) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(entry.Type, entry.Amount, entry.Currency, entry.Status)
	}
	// Output: crypto 100 USDC completed
}
