package appapi_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/appapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/recorded"
	"github.com/moneymovement/moneymovement-go/model"
)

// A contract is offered to a contractor. Preview shows its document.
func ExampleContracts_Create() {
	server := recorded.Serve() // stands for the service
	defer server.Close()
	ctx := context.Background()
	app, err := appapi.New(server.URL, appapi.NewAPIKey(server.APIKey))
	if err != nil {
		log.Fatal(err)
	}
	contract, err := app.Contracts.Create(ctx, appapi.ContractCreate{
		ContractorEmail: "contractor@example.com", Type: model.ContractTypeService, Period: "monthly",
		Fields: appapi.ContractFields{Amount: decimal.NewFromInt(300), Currency: model.FiatCurrencyUSD},
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

// Both parties accept a contract. A paused contract issues no invoices.
func ExampleContracts_Approve() {
	server := recorded.Serve() // stands for the service
	defer server.Close()
	ctx := context.Background()
	app, err := appapi.New(server.URL, appapi.NewAPIKey(server.APIKey))
	if err != nil {
		log.Fatal(err)
	}
	contract, err := app.Contracts.Create(ctx, appapi.ContractCreate{
		ContractorEmail: "contractor@example.com", Type: model.ContractTypeService, Period: "monthly",
		Fields: appapi.ContractFields{Amount: decimal.NewFromInt(300), Currency: model.FiatCurrencyUSD},
	})
	if err != nil {
		log.Fatal(err)
	}
	server.Advance(24 * time.Hour) // until the contractor has accepted

	contract, err = app.Contracts.Approve(ctx, contract.ID)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(contract.Status)

	contract, err = app.Contracts.Pause(ctx, contract.ID)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(contract.Status)
	// Output:
	// active
	// paused
}

// An update changes the fields that are set, and leaves the others.
func ExampleContracts_Update() {
	server := recorded.Serve() // stands for the service
	defer server.Close()
	ctx := context.Background()
	app, err := appapi.New(server.URL, appapi.NewAPIKey(server.APIKey))
	if err != nil {
		log.Fatal(err)
	}
	contract, err := app.Contracts.Create(ctx, appapi.ContractCreate{
		ContractorEmail: "contractor@example.com", Type: model.ContractTypeService, Period: "monthly",
		Fields: appapi.ContractFields{Amount: decimal.NewFromInt(300), Currency: model.FiatCurrencyUSD},
	})
	if err != nil {
		log.Fatal(err)
	}
	_, err = app.Contracts.Update(ctx, contract.ID, appapi.ContractUpdate{
		Label:  model.Set("Design"),
		Fields: appapi.ContractFieldsUpdate{Amount: model.Set(decimal.NewFromInt(310))},
	})
	if err != nil {
		log.Fatal(err)
	}

	contract, err = app.Contracts.Get(ctx, contract.ID)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(contract.Label, contract.Amount, contract.Currency)
	// Output: Design 310 USD
}

// The given methods replace all that the contract had.
func ExampleContracts_ReplacePaymentMethods() {
	server := recorded.Serve() // stands for the service
	defer server.Close()
	ctx := context.Background()
	app, err := appapi.New(server.URL, appapi.NewAPIKey(server.APIKey))
	if err != nil {
		log.Fatal(err)
	}
	contract, err := app.Contracts.Create(ctx, appapi.ContractCreate{
		ContractorEmail: "contractor@example.com", Type: model.ContractTypeService, Period: "monthly",
		Fields: appapi.ContractFields{Amount: decimal.NewFromInt(300), Currency: model.FiatCurrencyUSD},
	})
	if err != nil {
		log.Fatal(err)
	}
	_, err = app.Contracts.ReplacePaymentMethods(ctx, contract.ID, []model.PaymentMethod{
		model.NewPaymentMethod(model.SEPAPaymentMethod{
			IBANNumber: "DE89370400440532013000", BeneficiaryName: "Carl Roe", Currency: "EUR",
			AccountHolderType: model.AccountHolderTypeIndividual,
		}),
	})
	if err != nil {
		log.Fatal(err)
	}
	for contract, err := range app.Contracts.All(ctx, appapi.ListContractsParams{}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(contract.Type, "has payment methods:", len(contract.PaymentMethods))
	}
	// Output: service has payment methods: 1
}

// A contract that was not accepted can be deleted.
func ExampleContracts_Delete() {
	server := recorded.Serve() // stands for the service
	defer server.Close()
	ctx := context.Background()
	app, err := appapi.New(server.URL, appapi.NewAPIKey(server.APIKey))
	if err != nil {
		log.Fatal(err)
	}
	templates, err := app.Contracts.Templates(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("templates:", len(templates))
	contract, err := app.Contracts.Create(ctx, appapi.ContractCreate{
		ContractorEmail: "contractor@example.com", Type: model.ContractTypeService, Period: "monthly",
		Fields: appapi.ContractFields{Amount: decimal.NewFromInt(300), Currency: model.FiatCurrencyUSD},
	})
	if err != nil {
		log.Fatal(err)
	}

	if err = app.Contracts.Delete(ctx, contract.ID); err != nil {
		log.Fatal(err)
	}
	_, err = app.Contracts.Get(ctx, contract.ID)
	var gone *errors.NotFound
	fmt.Println("gone:", errors.As(err, &gone))
	// Output:
	// templates: 10
	// gone: true
}
