package appapi_test

import (
	"context"
	"fmt"
	"log"

	"github.com/moneymovement/moneymovement-go/appapi"
	"github.com/moneymovement/moneymovement-go/internal/recorded"
	"github.com/moneymovement/moneymovement-go/model"
)

// A program checks at its start whose key it holds and what the key may spend.
func ExampleAccount_App() {
	server := recorded.Serve() // stands for the service
	defer server.Close()
	app, err := appapi.New(server.URL, appapi.NewAPIKey(server.APIKey))
	if err != nil {
		log.Fatal(err)
	}
	owner, err := app.Account.App(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(owner.AppName, owner.UserEmail, owner.Balance)
	if owner.RemainingSpendLimit != nil { // nil if the service reports no limit
		fmt.Println("may spend", owner.RemainingSpendLimit)
	}
	// Output:
	// Sandbox app ops@example.com 100
	// may spend 10000
}

// The owner completes the profile, and verifies themselves under a link.
func ExampleAccount_KYCLink() {
	server := recorded.Serve() // stands for the service
	defer server.Close()
	ctx := context.Background()
	app, err := appapi.New(server.URL, appapi.NewAPIKey(server.APIKey))
	if err != nil {
		log.Fatal(err)
	}
	_, err = app.Account.UpdateProfile(ctx, appapi.ProfileUpdate{
		FirstName: model.Set("Ann"), LastName: model.Set("Roe"), // the other fields stay as they are
	})
	if err != nil {
		log.Fatal(err)
	}

	link, err := app.Account.KYCLink(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("show the owner a link:", link.URL != "")

	state, err := app.Account.KYCStatus(ctx, appapi.GetKYCStatusParams{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(state.Status)
	// Output:
	// show the owner a link: true
	// requested
}

func ExampleAccount_Balances() {
	server := recorded.Serve() // stands for the service
	defer server.Close()
	app, err := appapi.New(server.URL, appapi.NewAPIKey(server.APIKey))
	if err != nil {
		log.Fatal(err)
	}
	balances, err := app.Account.Balances(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	for _, balance := range balances {
		fmt.Println(balance.Available, balance.Currency)
	}
	// Output:
	// 100 USDC
	// 0 EURC
}

func ExampleAccount_WalletBalance() {
	server := recorded.Serve() // stands for the service
	defer server.Close()
	ctx := context.Background()
	app, err := appapi.New(server.URL, appapi.NewAPIKey(server.APIKey))
	if err != nil {
		log.Fatal(err)
	}
	profile, err := app.Account.Profile(ctx)
	if err != nil {
		log.Fatal(err)
	}
	wallet, err := app.Account.WalletBalance(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(profile.Email, "has", wallet.USDCBalance, "USDC")
	if wallet.RemainingAllowance != nil { // nil if the service reports none
		fmt.Println("the key may spend", wallet.RemainingAllowance, "USDC")
	}
	// Output:
	// ops@example.com has 100 USDC
	// the key may spend 10000 USDC
}
