package appapi_test

import (
	"context"
	"fmt"
	"log"

	"github.com/shopspring/decimal"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/appapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/recorded"
	"github.com/moneymovement/moneymovement-go/model"
)

// The response to a transfer is lost. The key finds out whether it was paid, also after a restart.
func ExampleTransfers_ByKey() {
	server := recorded.Serve() // stands for the service
	defer server.Close()
	ctx := context.Background()
	app, err := appapi.New(server.URL, appapi.NewAPIKey(server.APIKey),
		moneymovement.WithRetries(moneymovement.RetryPolicy{Max: -1}))
	if err != nil {
		log.Fatal(err)
	}
	landlord, err := app.Contacts.Create(ctx,
		appapi.ContactCreate{Name: "Landlord", Account: appapi.Onchain(model.OnchainAccount{
			WalletAddress: "0x52908400098527886E0F7030069857D2E4169EE7", ChainID: "base", Currency: "USDC",
		})})
	if err != nil {
		log.Fatal(err)
	}

	// The service pays, and its response does not arrive.
	_, err = app.Transfers.Send(ctx, appapi.ToContact{ContactID: landlord.ID, Amount: decimal.NewFromInt(60),
		Memo: "Rent"}, "rent-2026-11")
	if _, unknown := errors.AsType[*errors.OutcomeUnknown](err); unknown {
		transfer, found, err := app.Transfers.ByKey(ctx, "rent-2026-11")
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(found, transfer.Amount, transfer.Memo)
	}
	// Output: true 60 Rent
}
