package public_test

import (
	"context"
	"fmt"
	"log"

	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/internal/recorded"
	"github.com/moneymovement/moneymovement-go/public"
)

// A rate is the price of one unit of a currency, by each way to pay.
func Example() {
	server := recorded.Serve() // stands for the service; a program has its base URL
	defer server.Close()
	client, err := public.New(server.URL)
	if err != nil {
		log.Fatal(err)
	}
	rate, err := client.Rates.Get(context.Background(), "EUR")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("100 EUR by bank transfer are", rate.BankTransfer.Mul(decimal.NewFromInt(100)).StringFixed(2), "USD")
	// Output: 100 EUR by bank transfer are 108.15 USD
}
