package dapi_test

import (
	"context"
	"fmt"
	"log"

	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/recorded"
)

// Before a payout, Capabilities reports whether and how a contact can be paid.
func ExampleContacts_Capabilities() {
	server := recorded.Serve() // stands for the service
	defer server.Close()
	ctx := context.Background()
	account, err := dapi.NewSelfServe(server.URL, dapi.Developer{Email: server.Email, Key: server.Key})
	if err != nil {
		log.Fatal(err)
	}
	bob, err := account.Contacts.Create(ctx, dapi.ContactCreate{Name: "Bob", Account: dapi.Onchain(dapi.OnchainAccount{
		WalletAddress: "0x52908400098527886E0F7030069857D2E4169EE7", ChainID: "base", Currency: "USDC",
	})})
	if err != nil {
		log.Fatal(err)
	}

	capabilities, err := account.Contacts.Capabilities(ctx, bob.ID)
	if err != nil {
		log.Fatal(err)
	}
	for _, method := range capabilities.Methods {
		fmt.Println(method.Method, method.Currency)
	}
	for _, blocker := range capabilities.Blockers {
		fmt.Println("blocked:", blocker.Code, blocker.Message)
	}
	// Output: onchain USDC
}

// A deleted contact cannot be paid any more.
func ExampleContacts_Delete() {
	server := recorded.Serve() // stands for the service
	defer server.Close()
	ctx := context.Background()
	account, err := dapi.NewSelfServe(server.URL, dapi.Developer{Email: server.Email, Key: server.Key})
	if err != nil {
		log.Fatal(err)
	}
	bob, err := account.Contacts.Create(ctx, dapi.ContactCreate{Name: "Bob", Account: dapi.Onchain(dapi.OnchainAccount{
		WalletAddress: "0x52908400098527886E0F7030069857D2E4169EE7", ChainID: "base", Currency: "USDC",
	})})
	if err != nil {
		log.Fatal(err)
	}

	if err = account.Contacts.Delete(ctx, bob.ID); err != nil {
		log.Fatal(err)
	}
	_, err = account.Contacts.Capabilities(ctx, bob.ID)
	var gone *errors.NotFound
	fmt.Println("gone:", errors.As(err, &gone))
	// Output: gone: true
}
