// Command stripe reads one payout with stripe-go.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/stripe/stripe-go/v85"
)

func main() {
	api := stripe.NewClient("sk_test_of_nobody", stripe.WithBackends(stripe.NewBackendsWithConfig(
		&stripe.BackendConfig{URL: stripe.String(os.Args[1])})))
	payout, err := api.V1Payouts.Retrieve(context.Background(), "po_1", nil)
	fmt.Println(payout, err)
}
