package refapi_test

import (
	"context"
	"fmt"
	"log"

	"github.com/shopspring/decimal"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/appapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/recorded"
	"github.com/moneymovement/moneymovement-go/refapi"
)

// A wait that ends before the payment does returns the last status and a *StillPending error.
func ExampleQuotes_Wait() {
	server := recorded.Serve() // stands for the service
	defer server.Close()
	app, err := appapi.New(server.URL, appapi.NewAPIKey(server.APIKey))
	if err != nil {
		log.Fatal(err)
	}
	client, err := refapi.New(server.URL, refapi.Credential{AccessToken: refapi.NewAccessToken(server.AccessToken)})
	if err != nil {
		log.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	quote, err := app.Quotes.PayinFromChain(ctx,
		appapi.BalancePayinQuote{Amount: decimal.NewFromInt(25), Currency: "USDC", OriginChainID: 1})
	if err != nil {
		log.Fatal(err)
	}

	status, err := client.Quotes.Wait(ctx, quote.QuoteID, refapi.Settled,
		moneymovement.OnProgress(func(moneymovement.Progress) {
			cancel() // here the program stops waiting after the first read
		}))
	var pending *moneymovement.StillPending
	if errors.As(err, &pending) { // nobody has paid it
		fmt.Println(pending.Status, status.FromAmount, status.FromCurrency)
	}
	// Output: awaiting_funds 25 USDC
}
