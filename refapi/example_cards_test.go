package refapi_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/moneymovement/moneymovement-go/appapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/recorded"
	"github.com/moneymovement/moneymovement-go/refapi"
)

// The card's wallet signs, and the service returns the number.
func ExampleCards_Details() {
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
	ctx := context.Background()
	card, err := app.Cards.Create(ctx, appapi.CardCreate{Format: "virtual"})
	if err != nil {
		log.Fatal(err)
	}
	server.Advance(time.Minute) // until the card is active

	wallet := server.Wallet // yours is a *wallet.Key of package signing/wallet
	details, err := client.Cards.Details(ctx, card.ID, wallet)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(details.CardNumber.Reveal()), len(details.CVV.Reveal()))

	_, err = client.Cards.Details(ctx, "card_of_nobody", wallet)
	var missing *errors.NotFound
	fmt.Println("no such card:", errors.As(err, &missing))
	// Output:
	// 16 3
	// no such card: true
}

// The list also says how far the account's verification for cards has come.
func ExampleCards_List() {
	server := recorded.Serve() // stands for the service
	defer server.Close()
	ctx := context.Background()
	app, err := appapi.New(server.URL, appapi.NewAPIKey(server.APIKey))
	if err != nil {
		log.Fatal(err)
	}
	if _, err = app.Cards.Create(ctx, appapi.CardCreate{Format: appapi.CardFormatVirtual}); err != nil {
		log.Fatal(err)
	}

	client, err := refapi.New(server.URL, refapi.Credential{AccessToken: refapi.NewAccessToken(server.AccessToken)})
	if err != nil {
		log.Fatal(err)
	}
	list, err := client.Cards.List(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("verification:", list.KYCStatus)
	for _, card := range list.Cards {
		fmt.Println("card:", card.Status)
	}
	// Output:
	// verification: not_started
	// card: pending
}
