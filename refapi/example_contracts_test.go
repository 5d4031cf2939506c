package refapi_test

import (
	"context"
	"fmt"
	"log"

	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/appapi"
	"github.com/moneymovement/moneymovement-go/internal/recorded"
	"github.com/moneymovement/moneymovement-go/model"
	"github.com/moneymovement/moneymovement-go/refapi"
)

// The app API creates a contract. The reference endpoints return it by its id.
func ExampleContracts_Get() {
	server := recorded.Serve() // stands for the service
	defer server.Close()
	ctx := context.Background()
	app, err := appapi.New(server.URL, appapi.NewAPIKey(server.APIKey))
	if err != nil {
		log.Fatal(err)
	}
	created, err := app.Contracts.Create(ctx, appapi.ContractCreate{
		ContractorEmail: "contractor@example.com", Type: model.ContractTypeService, Period: "monthly",
		Fields: appapi.ContractFields{Amount: decimal.NewFromInt(300), Currency: model.FiatCurrencyUSD},
	})
	if err != nil {
		log.Fatal(err)
	}

	client, err := refapi.New(server.URL, refapi.Credential{AccessToken: refapi.NewAccessToken(server.AccessToken)})
	if err != nil {
		log.Fatal(err)
	}
	contract, err := client.Contracts.Get(ctx, created.ID)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(contract.Amount, contract.Currency, contract.Period, contract.Status)
	// Output: 300 USD monthly pending_approval_by_contractor
}
