package refapi_test

import (
	"context"
	"fmt"
	"log"

	"github.com/moneymovement/moneymovement-go/internal/recorded"
	"github.com/moneymovement/moneymovement-go/refapi"
)

// Without ActiveOnly, List returns only the products that are on sale.
func ExampleProducts_List() {
	server := recorded.Serve() // stands for the service
	defer server.Close()
	client, err := refapi.New(server.URL, refapi.Credential{AccessToken: refapi.NewAccessToken(server.AccessToken)})
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
	// Output:
	// Day pass for 12.5 USD
	// Gift card in EUR
	// Early bird pass for 9 USD
}
