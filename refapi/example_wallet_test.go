package refapi_test

import (
	"context"
	"fmt"
	"log"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/recorded"
	"github.com/moneymovement/moneymovement-go/refapi"
)

// The description does not show which message the wallet signs: your deployment says it.
func ExampleWallet_LogIn() {
	server := recorded.Serve() // stands for the service
	defer server.Close()
	ctx := context.Background()
	client, err := refapi.New(server.URL, refapi.Credential{AccessToken: refapi.NewAccessToken(server.AccessToken)})
	if err != nil {
		log.Fatal(err)
	}

	const message = "Log in to Example at 2026-11-22T21:00:00Z"
	signature, err := server.Wallet.SignMessage(ctx, []byte(message)) // yours is a *wallet.Key of signing/wallet
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
	// Output: success
}
