package refapi_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/refapi"
	"github.com/moneymovement/moneymovement-go/signing/wallet"
)

func Example() {
	client, err := refapi.New("https://service.example", refapi.NewAccessToken(os.Getenv("ACCESS_TOKEN")))
	if err != nil {
		log.Fatal(err)
	}
	products, err := client.Products.List(context.Background(), refapi.ListMerchantProductsParams{})
	if err != nil {
		log.Fatal(err)
	}
	for _, product := range products {
		fmt.Println(product.Name, product.Price, product.Currency)
	}
}

func ExampleWithAPIKey() {
	client, err := refapi.New("https://service.example", refapi.NewAccessToken(os.Getenv("ACCESS_TOKEN")),
		refapi.WithAPIKey(refapi.NewAPIKey(os.Getenv("API_KEY"))))
	if err != nil {
		log.Fatal(err)
	}
	_ = client
}

// An invoice that was paid in cash last week: without a transaction, and backdated.
func ExampleInvoices_Update() {
	client, err := refapi.New("https://service.example", refapi.NewAccessToken(os.Getenv("ACCESS_TOKEN")))
	if err != nil {
		log.Fatal(err)
	}
	_, err = client.Invoices.Update(context.Background(), "0b1f7d3e-58a4-4c8e-9d55-3f1f0f0c9a11", moneymovement.InvoiceUpdate{
		Status: moneymovement.InvoiceStatusPaid,
		PaidAt: time.Now().AddDate(0, 0, -7),
	})
	var failed *errors.DetailErrors
	if errors.As(err, &failed) {
		for _, item := range failed.Items {
			log.Printf("%s: %s", item.Path, item.Message) // such as body.paidAt: is no time
		}
	}
}

func ExampleCards_Details() {
	client, err := refapi.New("https://service.example", refapi.NewAccessToken(os.Getenv("ACCESS_TOKEN")))
	if err != nil {
		log.Fatal(err)
	}
	key, err := wallet.LoadKey("card-wallet.pem")
	if err != nil {
		log.Fatal(err)
	}
	details, err := client.Cards.Details(context.Background(), "card_1", key)
	if err != nil {
		log.Fatal(err)
	}
	log.Print(details)               // the last four digits only
	showToHolder(details.CardNumber) // all of it
}

func showToHolder(string) {}

func ExampleQuotes_Wait() {
	client, err := refapi.New("https://service.example", refapi.NewAccessToken(os.Getenv("ACCESS_TOKEN")))
	if err != nil {
		log.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	status, err := client.Quotes.Wait(ctx, "q_8fK2", refapi.OnProgress(func(p refapi.Progress) {
		log.Printf("%s after %s", p.Status, p.Waited)
	}))
	var pending *refapi.StillPending
	switch {
	case errors.As(err, &pending):
		log.Printf("look again later: %v", pending)
	case err != nil:
		log.Fatal(err)
	default:
		log.Printf("%s: %s %s", status.Status, status.FromAmount, status.FromCurrency)
	}
}

func ExampleWebhookHandler() {
	handler := &refapi.WebhookHandler{Handle: func(_ context.Context, event refapi.WebhookEvent) error {
		fmt.Println(event.EventType, "of", event.EntityType, event.EntityID)
		return nil // an error would be answered 500, and the partner would send the event again
	}}
	server := httptest.NewServer(handler)
	defer server.Close()

	post, err := http.NewRequestWithContext(context.Background(), http.MethodPost, server.URL,
		strings.NewReader(`{"eventType":"approved","entityType":"applicant","entityId":"a_7","createdAt":"2026-01-02T03:04:05Z"}`))
	if err != nil {
		log.Fatal(err)
	}
	post.Header.Set("Content-Type", "application/json")
	answer, err := server.Client().Do(post)
	if err != nil {
		log.Fatal(err)
	}
	defer answer.Body.Close()
	fmt.Println(answer.StatusCode)
	// Output:
	// approved of applicant a_7
	// 200
}
