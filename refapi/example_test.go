package refapi_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/appapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/recorded"
	"github.com/moneymovement/moneymovement-go/model"
	"github.com/moneymovement/moneymovement-go/refapi"
)

// connect makes clients with the credentials of a server; a program has a base URL and credentials of its own.
func connect(server *recorded.Server) (*refapi.Client, *appapi.Client) {
	client := must(refapi.New(server.URL, refapi.Credential{AccessToken: refapi.NewAccessToken(server.AccessToken)}))
	app := must(appapi.New(server.URL, appapi.NewAPIKey(server.APIKey)))
	return client, app
}

// must fails the example at once.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func Example() {
	server := recorded.Serve() // in place of the service
	defer server.Close()
	client, _ := connect(server)

	products, err := client.Products.List(context.Background(), refapi.ListMerchantProductsParams{})
	if err != nil {
		log.Fatal(err)
	}
	for _, product := range products {
		fmt.Println(product.Name, product.Currency)
	}
	// Output:
	// Day pass USD
	// Gift card EUR
}

func ExampleCredential() {
	client, err := refapi.New("https://service.example", refapi.Credential{
		AccessToken: refapi.NewAccessToken("token-from-a-vault"),
		APIKey:      refapi.NewAPIKey("key-from-a-vault"), // optional
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(client != nil)
	// Output: true
}

// An invoice was paid in cash before it was issued: there is no transaction, and the payment is backdated.
func ExampleInvoices_Update() {
	server := recorded.Serve() // in place of the service
	defer server.Close()
	client, app := connect(server)
	ctx := context.Background()
	invoice, err := app.Invoices.Create(ctx, appapi.InvoiceCreate{
		Currency: model.InvoiceCurrencyEUR, ClientEmail: "client@example.com",
		Items: []model.LineItem{{Name: "Tea", Quantity: model.NewNumber(decimal.NewFromInt(3)),
			Price: decimal.RequireFromString("4.20")}},
	})
	if err != nil {
		log.Fatal(err)
	}

	paidAt := time.Date(2025, 12, 24, 9, 0, 0, 0, time.UTC)
	invoice, err = client.Invoices.Update(ctx, invoice.ID,
		model.InvoiceUpdate{Status: model.InvoiceStatusPaid, PaidAt: model.Set(paidAt)})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(invoice.Amount, invoice.Currency, invoice.Status, invoice.PaidAt.Equal(paidAt),
		invoice.Transaction == nil)

	_, err = client.Invoices.Update(ctx, invoice.ID, model.InvoiceUpdate{Status: "settled"})
	var failed *errors.DetailErrors
	if errors.As(err, &failed) {
		for _, item := range failed.Items {
			fmt.Println(item.Path, item.Type)
		}
	}
	// Output:
	// 12.6 EUR paid true true
	// body.status enum
}

func ExampleCards_Details() {
	server := recorded.Serve() // in place of the service
	defer server.Close()
	client, app := connect(server)
	ctx := context.Background()
	card, err := app.Cards.Create(ctx, appapi.CardCreate{Format: "virtual"})
	if err != nil {
		log.Fatal(err)
	}
	server.Advance(time.Minute) // in which it becomes active

	wallet := server.Wallet // a program has one of its own, such as wallet.LoadKey of package signing/wallet returns
	details, err := client.Cards.Details(ctx, card.ID, wallet)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(details.CardNumber.Reveal()), len(details.Cvv.Reveal()))

	_, err = client.Cards.Details(ctx, "card_of_nobody", wallet)
	var none *errors.NotFound
	fmt.Println(errors.As(err, &none))
	// Output:
	// 16 3
	// true
}

func ExampleQuotes_Wait() {
	server := recorded.Serve() // in place of the service
	defer server.Close()
	client, app := connect(server)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	quote, err := app.Quotes.PayinFromChain(ctx,
		appapi.BalancePayinQuote{Amount: decimal.NewFromInt(25), Currency: "USDC", OriginChainID: 1})
	if err != nil {
		log.Fatal(err)
	}

	status, err := client.Quotes.Wait(ctx, quote.QuoteID, refapi.OnProgress(func(p refapi.Progress) {
		cancel() // the caller has something better to do than to wait
	}))
	var pending *refapi.StillPending
	if errors.As(err, &pending) { // nobody has paid it
		fmt.Println(pending.Status, status.FromAmount, status.FromCurrency)
	}
	// Output: awaiting_funds 25 USDC
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

// The signature is what this deployment agreed on with its partner: the description states none.
func ExampleWebhookHandler_verify() {
	secret := []byte("agreed on with acme")
	sign := func(body []byte) string {
		mac := hmac.New(sha256.New, secret)
		mac.Write(body)
		return hex.EncodeToString(mac.Sum(nil))
	}
	handler := &refapi.WebhookHandler{
		Verify: func(_ context.Context, delivery refapi.WebhookDelivery) error {
			if !hmac.Equal([]byte(delivery.Header.Get("X-Acme-Signature")), []byte(sign(delivery.Body))) {
				return errors.New("signature is of another key or body")
			}
			return nil
		},
		Handle: func(_ context.Context, event refapi.WebhookEvent) error {
			fmt.Println(event.EventType, "of", event.EntityType, event.EntityID)
			return nil
		},
		OnError: func(_ *http.Request, _ string, err error) { fmt.Println(err) },
	}

	body := `{"eventType":"approved","entityType":"applicant","entityId":"a_7","createdAt":"2026-01-02T03:04:05Z"}`
	for _, signature := range []string{sign([]byte(body)), "forged"} {
		post := httptest.NewRequestWithContext(context.Background(), http.MethodPost, "/api/v1/webhook/acme",
			strings.NewReader(body))
		post.Header.Set("Content-Type", "application/json")
		post.Header.Set("X-Acme-Signature", signature)
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, post)
		fmt.Println(answer.Code)
	}
	// Output:
	// approved of applicant a_7
	// 200
	// signature is of another key or body
	// 401
}
