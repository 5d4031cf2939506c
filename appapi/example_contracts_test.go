package appapi_test

import (
	"context"
	"fmt"
	"log"

	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/appapi"
	"github.com/moneymovement/moneymovement-go/internal/recorded"
	"github.com/moneymovement/moneymovement-go/model"
)

// A contract is offered to a contractor, and its document read before it is approved.
func ExampleContracts_Create() {
	server := recorded.Serve() // in place of the service
	defer server.Close()
	ctx := context.Background()
	app, err := appapi.New(server.URL, appapi.NewAPIKey(server.APIKey))
	if err != nil {
		log.Fatal(err)
	}
	contract, err := app.Contracts.Create(ctx, appapi.ContractCreate{
		ContractorEmail: "contractor@example.com",
		Type:            model.ContractTypeService,
		Period:          "monthly",
		Fields: appapi.ContractFields{
			Amount: decimal.NewFromInt(300), Currency: model.FiatCurrencyUSD, JobTitle: "Designer",
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(contract.Type, contract.Amount, contract.Currency, contract.Status)

	preview, err := app.Contracts.Preview(ctx, contract.ID)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("text to show:", preview.Text != "")
	// Output:
	// service 300 USD pending_approval_by_contractor
	// text to show: true
}
