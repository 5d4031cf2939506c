// Command sdk reads one payout with the SDK.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/signing"
)

func main() {
	key, err := signing.Generate()
	if err != nil {
		panic(err)
	}
	platform, err := dapi.NewIntegrator(os.Args[1], dapi.Developer{Email: "ops@example.com", Key: key})
	if err != nil {
		panic(err)
	}
	fmt.Println(platform.For("cl_1").Payouts.Get(context.Background(), "po_1"))
}
