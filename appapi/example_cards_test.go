package appapi_test

import (
	"context"
	"fmt"
	"log"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/appapi"
	"github.com/moneymovement/moneymovement-go/internal/recorded"
	"github.com/moneymovement/moneymovement-go/model"
)

// The card's wallet signs, and the service returns the number. The details do not print by accident.
func ExampleCards_Details() {
	server := recorded.Serve() // stands for the service
	defer server.Close()
	ctx := context.Background()
	app, err := appapi.New(server.URL, appapi.NewAPIKey(server.APIKey))
	if err != nil {
		log.Fatal(err)
	}
	card, err := app.Cards.Create(ctx, appapi.CardCreate{Format: appapi.CardFormatVirtual})
	if err != nil {
		log.Fatal(err)
	}
	server.Advance(time.Minute) // until the card is active
	details, err := app.Cards.Details(ctx, card.ID, server.Wallet)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(details.CardNumber.Reveal()), strings.HasPrefix(fmt.Sprint(details), "card details (redacted"))
	// Output: 16 true
}

// A limit that is not set stays as it is.
func ExampleCards_SetLimit() {
	server := recorded.Serve() // stands for the service
	defer server.Close()
	ctx := context.Background()
	app, err := appapi.New(server.URL, appapi.NewAPIKey(server.APIKey))
	if err != nil {
		log.Fatal(err)
	}
	card, err := app.Cards.Create(ctx, appapi.CardCreate{Format: appapi.CardFormatVirtual})
	if err != nil {
		log.Fatal(err)
	}
	if _, err = app.Cards.SetLabel(ctx, card.ID, "Travel"); err != nil {
		log.Fatal(err)
	}
	_, err = app.Cards.SetLimit(ctx, card.ID, appapi.CardLimitUpdate{
		DailyLimit: model.Set(model.NewNumber(decimal.NewFromInt(250))),
	})
	if err != nil {
		log.Fatal(err)
	}

	card, err = app.Cards.Get(ctx, card.ID)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(card.Label, "may spend", card.Limit.DailyLimit, card.Limit.Currency, "a day")
	// Output: Travel may spend 250 USD a day
}

// A card that is lost is frozen at once.
func ExampleCards_Freeze() {
	server := recorded.Serve() // stands for the service
	defer server.Close()
	ctx := context.Background()
	app, err := appapi.New(server.URL, appapi.NewAPIKey(server.APIKey))
	if err != nil {
		log.Fatal(err)
	}
	card, err := app.Cards.Create(ctx, appapi.CardCreate{Format: appapi.CardFormatVirtual})
	if err != nil {
		log.Fatal(err)
	}
	server.Advance(time.Minute) // until the card is active

	card, err = app.Cards.Freeze(ctx, card.ID)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(card.Status)
	if _, err = app.Cards.Unfreeze(ctx, card.ID); err != nil {
		log.Fatal(err)
	}
	list, err := app.Cards.List(ctx)
	if err != nil {
		log.Fatal(err)
	}
	for _, card := range list.Cards {
		fmt.Println(card.Status)
	}
	// Output:
	// frozen
	// active
}

// The holder verifies themselves, and lets the card programme draw on the wallet.
func ExampleCards_PreApprove() {
	server := recorded.Serve() // stands for the service
	defer server.Close()
	ctx := context.Background()
	app, err := appapi.New(server.URL, appapi.NewAPIKey(server.APIKey))
	if err != nil {
		log.Fatal(err)
	}
	link, err := app.Cards.KYCLink(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("show the holder a link:", link.URL != "")

	approval, err := app.Cards.PreApprove(ctx, appapi.CardPreApprovalCreate{
		Amount: decimal.NewFromInt(500), Currency: "USDC",
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("approved:", approval.Approved)
	// Output:
	// show the holder a link: true
	// approved: true
}
