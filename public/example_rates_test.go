package public_test

import (
	"context"
	"fmt"
	"log"

	"github.com/moneymovement/moneymovement-go/internal/recorded"
	"github.com/moneymovement/moneymovement-go/public"
)

// Rates are prices in USD for one unit of the currency. There is one for each way to pay.
func ExampleRates_Get() {
	server := recorded.Serve() // stands for the service
	defer server.Close()
	client, err := public.New(server.URL)
	if err != nil {
		log.Fatal(err)
	}
	rate, err := client.Rates.Get(context.Background(), "GBP")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(rate.USDRate, rate.BankTransfer, rate.Card)
	// Output: 1.26582278 1.25949367 1.24050632
}
