package appapi_test

import (
	"context"
	"fmt"
	"log"

	"github.com/moneymovement/moneymovement-go/appapi"
	"github.com/moneymovement/moneymovement-go/internal/recorded"
	"github.com/moneymovement/moneymovement-go/model"
)

func ExampleContacts_Create() {
	server := recorded.Serve() // stands for the service
	defer server.Close()
	ctx := context.Background()
	app, err := appapi.New(server.URL, appapi.NewAPIKey(server.APIKey))
	if err != nil {
		log.Fatal(err)
	}
	_, err = app.Contacts.Create(ctx, appapi.ContactCreate{
		Name: "Landlord", Relationship: "external",
		Account: appapi.Onchain(model.OnchainAccount{
			WalletAddress: "0x52908400098527886E0F7030069857D2E4169EE7", ChainID: "base", Currency: "USDC",
		}),
	})
	if err != nil {
		log.Fatal(err)
	}

	for contact, err := range app.Contacts.All(ctx, appapi.ListContactsParams{}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(contact.Name, contact.Relationship)
	}
	// Output: Landlord external
}

// ValidateBank checks the details that a person entered, and saves nothing.
func ExampleContacts_ValidateBank() {
	server := recorded.Serve() // stands for the service
	defer server.Close()
	app, err := appapi.New(server.URL, appapi.NewAPIKey(server.APIKey))
	if err != nil {
		log.Fatal(err)
	}
	check, err := app.Contacts.ValidateBank(context.Background(), appapi.BankDetails{
		Country: "DE", IBAN: "DE00370400440532013000",
	})
	if err != nil {
		log.Fatal(err)
	}
	if check.Valid != nil && !*check.Valid {
		for _, wrong := range check.Errors {
			fmt.Println(wrong.Field, wrong.Message)
		}
	}
	// Output: iban The IBAN's form or checksum is wrong.
}

// An update changes the fields that are set, and leaves the others.
func ExampleContacts_Update() {
	server := recorded.Serve() // stands for the service
	defer server.Close()
	ctx := context.Background()
	app, err := appapi.New(server.URL, appapi.NewAPIKey(server.APIKey))
	if err != nil {
		log.Fatal(err)
	}
	contact, err := app.Contacts.Create(ctx, appapi.ContactCreate{
		Name: "Landlord",
		Account: appapi.Onchain(model.OnchainAccount{
			WalletAddress: "0x52908400098527886E0F7030069857D2E4169EE7", ChainID: "base", Currency: "USDC",
		}),
	})
	if err != nil {
		log.Fatal(err)
	}
	contact, err = app.Contacts.Update(ctx, contact.ID, appapi.ContactUpdate{Relationship: model.Set("external")})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(contact.Name, contact.Relationship)

	if err = app.Contacts.Delete(ctx, contact.ID); err != nil {
		log.Fatal(err)
	}
	// Output: Landlord external
}
