package refapi_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/recorded"
	"github.com/moneymovement/moneymovement-go/refapi"
)

// A partner reports an event to the service. Send is never sent twice.
func ExampleWebhooks_Send() {
	server := recorded.Serve() // in place of the service
	defer server.Close()
	client, err := refapi.New(server.URL, refapi.NewAccessToken(server.AccessToken))
	if err != nil {
		log.Fatal(err)
	}
	ok, err := client.Webhooks.Send(context.Background(), "acme", refapi.WebhookEvent{
		EventType: "approved", EntityType: "applicant", EntityID: "a_7",
		CreatedAt: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC).Format(time.RFC3339),
	})
	var unknown *errors.OutcomeUnknown
	switch {
	case errors.As(err, &unknown):
		fmt.Println("the service may have the event: ask before you send it again")
	case err != nil:
		log.Fatal(err)
	default:
		fmt.Println("taken:", ok)
	}
	// Output: taken: true
}
