package refapi_test

import (
	"context"
	"fmt"
	"log"

	"github.com/moneymovement/moneymovement-go/internal/recorded"
	"github.com/moneymovement/moneymovement-go/refapi"
)

// A client takes an access token. An app API key is optional.
func Example() {
	server := recorded.Serve() // stands for the service
	defer server.Close()
	client, err := refapi.New(server.URL, refapi.Credential{AccessToken: refapi.NewAccessToken(server.AccessToken)})
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
