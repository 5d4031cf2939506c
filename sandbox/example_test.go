package sandbox_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

// A test of a backend that pays: the host stands for the service, loses an answer, and shows what became of the money.
func Example() {
	ctx := context.Background()
	host := sandbox.New()
	server := httptest.NewServer(host)
	defer server.Close()
	platform, err := dapi.NewIntegrator(server.URL,
		dapi.Developer{Email: host.Credentials().Email, Key: host.Credentials().Key})
	if err != nil {
		log.Fatal(err)
	}
	client, err := platform.Clients.Create(ctx, dapi.ClientCreate{Email: "acme@example.com", EntityName: "Acme"})
	if err != nil {
		log.Fatal(err)
	}
	if _, err = platform.Clients.WaitReady(ctx, client.ID); err != nil {
		log.Fatal(err)
	}
	acme := platform.For(client.ID)
	if _, err = acme.Sandbox.Deposit(ctx,
		dapi.DepositCreate{Amount: decimal.NewFromInt(50), Currency: dapi.USDC}); err != nil {
		log.Fatal(err)
	}

	lost := host.Arm(http.MethodPost, "/payouts/{payoutId}/confirm", sandbox.DropAfterCommit())
	if err = payInvoice(ctx, acme); err != nil { // the backend under test
		log.Fatal(err)
	}
	fmt.Println("answers lost:", lost.Consumed())
	fmt.Println("left:", host.Ledger().Balances[string(client.ID)]["USDC"])
	// Output:
	// answers lost: 1
	// left: 37.5
}

func payInvoice(ctx context.Context, account *dapi.Account) error {
	supplier, err := account.Contacts.Create(ctx, dapi.ContactCreate{Name: "Supplier",
		Account: dapi.SEPA(dapi.IBANAccount{IBAN: "DE89370400440532013000",
			Holder: dapi.AccountHolder{Name: "Supplier"}})})
	if err != nil {
		return err
	}
	_, err = account.Payouts.Pay(ctx,
		dapi.PayoutCreate{ContactID: supplier.ID, Amount: decimal.RequireFromString("12.50"), Currency: dapi.USDC},
		"invoice-42")
	return err
}

// Lifetimes run on a clock that a test moves.
func ExampleHost_Advance() {
	start := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	host := sandbox.New(sandbox.WithClock(func() time.Time { return start }))

	fmt.Println(host.Advance(61 * time.Second).Format(time.RFC3339))
	// Output: 2026-05-01T12:01:01Z
}

// A scripted fault says whether it happened.
func ExampleHost_Arm() {
	host := sandbox.New()
	server := httptest.NewServer(host)
	defer server.Close()
	busy := host.Arm(http.MethodGet, "/chains", sandbox.Respond(503, "provider_unavailable").
		WithHeader("Retry-After", "1"))

	for range 2 {
		response, err := http.Get(server.URL + "/dapi/v1/chains")
		if err != nil {
			fmt.Println(err)
			return
		}
		_ = response.Body.Close()
		fmt.Println(response.StatusCode, busy.Consumed(), busy.Remaining())
	}
	// Output:
	// 503 1 0
	// 401 1 0
}
