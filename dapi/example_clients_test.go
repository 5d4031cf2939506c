package dapi_test

import (
	"context"
	"fmt"
	"log"

	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/internal/recorded"
)

// A new client can hold and pay money when it is ready. It then has a wallet on the Base chain.
func ExampleClients_Create() {
	server := recorded.Serve() // stands for the service
	defer server.Close()
	ctx := context.Background()
	platform, err := dapi.NewIntegrator(server.URL, dapi.Developer{Email: server.Email, Key: server.Key})
	if err != nil {
		log.Fatal(err)
	}

	client, err := platform.Clients.Create(ctx, dapi.ClientCreate{
		Email: "acme@example.com", EntityName: "Example Trading", Country: "DE",
	})
	if err != nil {
		log.Fatal(err)
	}
	client, err = platform.Clients.WaitReady(ctx, client.ID)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(client.Status, client.BaseSmartWallet != "")
	// Output: ready true
}
