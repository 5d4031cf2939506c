package refapi_test

import (
	"context"
	"fmt"
	"log"

	"github.com/moneymovement/moneymovement-go/appapi"
	"github.com/moneymovement/moneymovement-go/internal/recorded"
	"github.com/moneymovement/moneymovement-go/refapi"
)

// The list also says how far the account's verification for cards has come.
func ExampleCards_List() {
	server := recorded.Serve() // in place of the service
	defer server.Close()
	ctx := context.Background()
	app, err := appapi.New(server.URL, appapi.NewAPIKey(server.APIKey))
	if err != nil {
		log.Fatal(err)
	}
	if _, err = app.Cards.Create(ctx, appapi.CardCreate{Format: appapi.CardFormatVirtual}); err != nil {
		log.Fatal(err)
	}

	client, err := refapi.New(server.URL, refapi.NewAccessToken(server.AccessToken))
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
