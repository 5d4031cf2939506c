package recorded_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/public"
	"github.com/moneymovement/moneymovement-go/recorded"
)

// service stands in for the service, below the SDK.
type service struct{}

func (service) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodGet && r.URL.Path == "/utils/rates/EUR" {
		return recorded.Response("public.GetRate", time.Now())
	}
	return nil, fmt.Errorf("unexpected request: %s %s", r.Method, r.URL.Path)
}

// A client of the SDK talks to a fake http.RoundTripper.
func ExampleResponse() {
	client, err := public.New("https://service.example",
		moneymovement.WithHTTPClient(&http.Client{Transport: service{}}))
	if err != nil {
		log.Fatal(err)
	}
	rate, err := client.Rates.Get(context.Background(), "EUR")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(rate.BankTransfer.IsPositive())
	// Output: true
}

// payouts are the methods that a backend uses of *dapi.Payouts. In a test, it gets a fake.
type payouts interface {
	Book(ctx context.Context, payout dapi.PayoutCreate, options ...moneymovement.WriteOption) (*dapi.Payout, error)
}

var _ payouts = (*dapi.Payouts)(nil)

// fakePayouts keeps the keys that it was called with.
type fakePayouts struct{ keys []moneymovement.Key }

func (f *fakePayouts) Book(
	_ context.Context, _ dapi.PayoutCreate, options ...moneymovement.WriteOption,
) (*dapi.Payout, error) {
	f.keys = append(f.keys, moneymovement.CallSettingsOf(options...).Key)
	body, err := recorded.Body("dapi.BookPayout", time.Now())
	if err != nil {
		return nil, err
	}
	var payout dapi.Payout
	return &payout, json.Unmarshal(body, &payout)
}

// A fake of your own returns a payout with all the fields that the service sends.
func ExampleBody() {
	var fake fakePayouts
	var used payouts = &fake // by the backend
	booked, err := used.Book(context.Background(), dapi.PayoutCreate{ContactID: "ct_3dR9", Currency: dapi.USDC},
		moneymovement.IdempotencyKey("invoice-42"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(booked.Status, booked.Quote != nil, fake.keys)
	// Output: awaiting_approval true [invoice-42]
}
