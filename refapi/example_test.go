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
	"os"
	"strings"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/model"
	"github.com/moneymovement/moneymovement-go/refapi"
)

// Most of these examples are compiled and not run: they would need a service.

// A client takes an access token. An app API key is optional.
func Example() {
	client, err := refapi.New("https://sandbox.example", refapi.Credential{
		AccessToken: refapi.NewAccessToken(os.Getenv("MONEYMOVEMENT_ACCESS_TOKEN")),
	})
	if err != nil {
		log.Fatal(err)
	}
	products, err := client.Products.List(context.Background(), refapi.ListMerchantProductsParams{})
	if err != nil {
		log.Fatal(err)
	}
	for _, product := range products {
		fmt.Println(product.Name, product.Currency)
	}
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

// The card's wallet signs, and the service returns the number.
func ExampleCards_Details() {
	client, err := refapi.New("https://sandbox.example", refapi.Credential{
		AccessToken: refapi.NewAccessToken(os.Getenv("MONEYMOVEMENT_ACCESS_TOKEN")),
	})
	if err != nil {
		log.Fatal(err)
	}
	details, err := client.Cards.Details(context.Background(), "card_1", wallet)
	var missing *errors.NotFound
	switch {
	case errors.As(err, &missing):
		log.Fatal("there is no such card")
	case err != nil:
		log.Fatal(err)
	}
	show(details.CardNumber.Reveal())
}

// wallet is such as a *wallet.Key of package signing/wallet.
var wallet model.CardSigner

// show shows the number of a card to its holder.
func show(string) {}

// The app API creates a contract. The reference endpoints return it by its id.
func ExampleContracts_Get() {
	client, err := refapi.New("https://sandbox.example", refapi.Credential{
		AccessToken: refapi.NewAccessToken(os.Getenv("MONEYMOVEMENT_ACCESS_TOKEN")),
	})
	if err != nil {
		log.Fatal(err)
	}
	contract, err := client.Contracts.Get(context.Background(), "7f3c")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(contract.Amount, contract.Currency, contract.Period, contract.Status)
}

// An invoice was paid in cash before it was issued: there is no transaction, and the payment is backdated.
func ExampleInvoices_Update() {
	client, err := refapi.New("https://sandbox.example", refapi.Credential{
		AccessToken: refapi.NewAccessToken(os.Getenv("MONEYMOVEMENT_ACCESS_TOKEN")),
	})
	if err != nil {
		log.Fatal(err)
	}
	_, err = client.Invoices.Update(context.Background(), "7f3c", model.InvoiceUpdate{
		Status: model.InvoiceStatusPaid, PaidAt: model.Set(time.Date(2025, 12, 24, 9, 0, 0, 0, time.UTC)),
	})
	var failed *errors.DetailErrors
	if errors.As(err, &failed) {
		for _, item := range failed.Items {
			fmt.Println(item.Path, item.Type)
		}
	}
}

// Without ActiveOnly, List returns only the products that are on sale.
func ExampleProducts_List() {
	client, err := refapi.New("https://sandbox.example", refapi.Credential{
		AccessToken: refapi.NewAccessToken(os.Getenv("MONEYMOVEMENT_ACCESS_TOKEN")),
	})
	if err != nil {
		log.Fatal(err)
	}
	products, err := client.Products.List(context.Background(),
		refapi.ListMerchantProductsParams{ActiveOnly: new(false)}) // all of them
	if err != nil {
		log.Fatal(err)
	}
	for _, product := range products {
		if product.Price == nil { // the buyer chooses the amount
			fmt.Println(product.Name, "in", product.Currency)
			continue
		}
		fmt.Println(product.Name, "for", product.Price, product.Currency)
	}
}

// A wait that ends before the payment does returns the last status and a *StillPending error.
func ExampleQuotes_Wait() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	client, err := refapi.New("https://sandbox.example", refapi.Credential{
		AccessToken: refapi.NewAccessToken(os.Getenv("MONEYMOVEMENT_ACCESS_TOKEN")),
	})
	if err != nil {
		log.Fatal(err)
	}
	status, err := client.Quotes.Wait(ctx, "quote_1", refapi.Settled)
	var pending *moneymovement.StillPending
	if errors.As(err, &pending) { // nobody has paid it
		fmt.Println(pending.Status, status.FromAmount, status.FromCurrency)
	}
}

// The description does not show which message the wallet signs: your deployment says it.
func ExampleWallet_LogIn() {
	ctx := context.Background()
	client, err := refapi.New("https://sandbox.example", refapi.Credential{
		AccessToken: refapi.NewAccessToken(os.Getenv("MONEYMOVEMENT_ACCESS_TOKEN")),
	})
	if err != nil {
		log.Fatal(err)
	}
	const message = "Log in to Example at 2026-11-22T21:00:00Z"
	signature, err := wallet.SignMessage(ctx, []byte(message))
	if err != nil {
		log.Fatal(err)
	}
	login, err := client.Wallet.LogIn(ctx,
		refapi.WalletLogin{Message: message, Signatures: []moneymovement.Secret{moneymovement.NewSecret(signature)}},
		refapi.LogInWalletParams{DeviceType: "server", DeviceName: "payments-1"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(login.Status)
}

// The handler passes each event of a partner to a function.
func ExampleWebhookHandler() {
	handler := &refapi.WebhookHandler{Handle: func(_ context.Context, event refapi.WebhookEvent) error {
		fmt.Println(event.EventType, "of", event.EntityType, event.EntityID)
		return nil // for an error, the partner gets a 500 and sends the event again
	}}
	server := httptest.NewServer(handler)
	defer server.Close()

	body := `{"eventType":"approved","entityType":"applicant","entityId":"a_7","createdAt":"2026-01-02T03:04:05Z"}`
	post, err := http.NewRequestWithContext(context.Background(), http.MethodPost, server.URL, strings.NewReader(body))
	if err != nil {
		log.Fatal(err)
	}
	post.Header.Set("Content-Type", "application/json")
	response, err := server.Client().Do(post)
	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()
	fmt.Println(response.StatusCode)
	// Output:
	// approved of applicant a_7
	// 200
}

// The description states no signature. This one is what a deployment agreed on with its partner.
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
				return errors.New("the signature does not match the body")
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
		response := httptest.NewRecorder()
		handler.ServeHTTP(response, post)
		fmt.Println(response.Code)
	}
	// Output:
	// approved of applicant a_7
	// 200
	// the signature does not match the body
	// 401
}

// A partner reports an event to the service. Send is never sent twice.
func ExampleWebhooks_Send() {
	client, err := refapi.New("https://sandbox.example", refapi.Credential{
		AccessToken: refapi.NewAccessToken(os.Getenv("MONEYMOVEMENT_ACCESS_TOKEN")),
	})
	if err != nil {
		log.Fatal(err)
	}
	ok, err := client.Webhooks.Send(context.Background(), "acme", refapi.WebhookEvent{
		EventType: "approved", EntityType: "applicant", EntityID: "a_7",
		CreatedAt: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC).Format(time.RFC3339),
	})
	var unknown *errors.InDoubt
	switch {
	case errors.As(err, &unknown):
		fmt.Println("the service may have the event: ask before you send it again")
	case err != nil:
		log.Fatal(err)
	default:
		fmt.Println("accepted:", ok)
	}
}
