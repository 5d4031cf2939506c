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

// A fake of your own returns a payout with all the fields that the service sends.
func ExampleBody() {
	body, err := recorded.Body("dapi.GetPayout", time.Now())
	if err != nil {
		log.Fatal(err)
	}
	var payout dapi.Payout
	if err := json.Unmarshal(body, &payout); err != nil {
		log.Fatal(err)
	}
	payout.Status = dapi.PayoutStatusRefunded // what this test is about
	fmt.Println(payout.Status, payout.Quote != nil)
	// Output: refunded true
}
