package sandbox_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/sandbox"
	"github.com/moneymovement/moneymovement-go/signing"
)

// A test of a backend that pays. The host takes the place of the service. It loses one response after the money moved,
// and its ledger shows that the backend paid once.
func Example() {
	ctx := context.Background()
	host := sandbox.New(sandbox.WithInstantProgress())
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
	fmt.Println("responses lost:", lost.Consumed())
	fmt.Println("left:", host.Ledger().Balances[string(client.ID)]["USDC"])
	// Output:
	// responses lost: 1
	// left: 37.5
}

func payInvoice(ctx context.Context, account *dapi.Account) error {
	supplier, err := account.Contacts.Create(ctx, dapi.ContactCreate{Name: "Supplier",
		Account: dapi.SEPA(dapi.BankFields{IBAN: "DE89370400440532013000",
			AccountHolderName: "Supplier"})})
	if err != nil {
		return err
	}
	_, err = account.Payouts.Pay(ctx,
		dapi.PayoutCreate{ContactID: supplier.ID, Amount: decimal.RequireFromString("12.50"), Currency: dapi.USDC},
		"invoice-42", dapi.PayTerms{})
	return err
}

// A session ends after an hour on the host's clock. The test does not wait for it.
func ExampleHost_Advance() {
	start := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	host := sandbox.New(sandbox.WithClock(func() time.Time { return start })) // a clock that stands

	fmt.Println(host.Advance(61 * time.Minute).Format(time.RFC3339))
	// Output: 2026-05-01T13:01:00Z
}

// A wait that is under way ends when the test lets the time pass. Short pauses between its reads make that quick.
func ExampleHost_Advance_wait() {
	ctx := context.Background()
	host := sandbox.New(sandbox.WithSettings(func(s *sandbox.Settings) { s.SetProgress(time.Hour) }))
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
	ready, err := platform.Clients.WaitReady(ctx, client.ID,
		moneymovement.PollEvery(time.Millisecond, time.Millisecond),
		moneymovement.OnProgress(func(p moneymovement.Progress) {
			if p.Reads == 2 {
				host.Advance(time.Hour) // here, or in any goroutine
			}
		}))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(client.Status, ready.Status)
	// Output: pending ready
}

// A test makes a read fail once, and sees that it did.
func ExampleHost_Arm() {
	host := sandbox.New()
	server := httptest.NewServer(host)
	defer server.Close()
	busy := host.Arm(http.MethodGet, "/utils/rates/{currency}",
		sandbox.Respond(503, "provider_unavailable").WithHeader("Retry-After", "1"))

	for range 2 {
		fmt.Println(statusOf(server.URL+"/utils/rates/EUR"), busy.Consumed(), busy.Remaining())
	}
	// Output:
	// 503 1 0
	// 200 1 0
}

// An operation that does not exist is a mistake in the test.
func ExampleHost_Arm_misspelt() {
	host := sandbox.New()
	defer func() { fmt.Println(recover()) }()
	host.Arm(http.MethodPost, "/sandbox/deposit", sandbox.DropBefore())
	// Output:
	// sandbox: Host.Arm: no operation of the service is "POST /sandbox/deposit"; did you mean POST /dapi/v1/sandbox/deposits?
}

// An outage lasts until the test ends it.
func ExampleArmedFault_Disarm() {
	host := sandbox.New()
	server := httptest.NewServer(host)
	defer server.Close()

	outage := host.Arm("", "/**", sandbox.Respond(503, "database_unavailable").Times(1_000_000))
	fmt.Println(statusOf(server.URL + "/utils/rates/EUR"))
	outage.Disarm() // and host.DisarmAll ends all faults
	fmt.Println(statusOf(server.URL+"/utils/rates/EUR"), outage.Consumed())
	// Output:
	// 503
	// 200 1
}

// Settings change at any time. A change that is invalid is refused as a whole.
func ExampleHost_Configure() {
	host := sandbox.New()
	err := host.Configure(func(s *sandbox.Settings) {
		s.MaxCredit = decimal.NewFromInt(5_000)
		s.PayoutStepAfter = sandbox.Duration(time.Hour) // payouts wait for host.Advance
	})
	fmt.Println(host.Settings().MaxCredit, host.Settings().PayoutStepAfter, err)

	err = host.Configure(func(s *sandbox.Settings) { s.ReturnAfter = -1 })
	fmt.Println(err)
	// Output:
	// 5000 1h0m0s <nil>
	// returnAfter must not be negative
}

// The ledger shows each movement of money.
func ExampleHost_Ledger() {
	ctx := context.Background()
	host := sandbox.New()
	server := httptest.NewServer(host)
	defer server.Close()
	account, err := dapi.NewSelfServe(server.URL,
		dapi.Developer{Email: host.Credentials().Email, Key: host.Credentials().Key})
	if err != nil {
		log.Fatal(err)
	}
	if _, err = account.Sandbox.Deposit(ctx,
		dapi.DepositCreate{Amount: decimal.NewFromInt(50), Currency: dapi.USDC}); err != nil {
		log.Fatal(err)
	}
	books := host.Ledger()
	for _, entry := range books.Entries {
		if entry.Kind == "deposit" {
			fmt.Println(entry.Kind, entry.Amount, entry.Currency)
		}
	}
	fmt.Println("in sum", books.Sums["USDC"])
	// Output:
	// deposit -50 USDC
	// deposit 50 USDC
	// in sum 0
}

// A test sees what arrived at the service.
func ExampleHost_Requests() {
	host := sandbox.New()
	server := httptest.NewServer(host)
	defer server.Close()
	statusOf(server.URL + "/utils/rates/EUR")
	for _, request := range host.Requests() {
		fmt.Println(request.Method, request.Path, request.Operation, request.Status)
	}
	// Output: GET /utils/rates/EUR GetRate 200
}

// A test in another container reaches the host by the name of this one.
func ExampleWithHosts() {
	host := sandbox.New(sandbox.WithHosts("sandbox.internal"))
	server := httptest.NewServer(host)
	defer server.Close()
	for _, name := range []string{"sandbox.internal", "localhost", "elsewhere.example.com"} {
		request, err := http.NewRequest(http.MethodGet, server.URL+"/utils/rates/EUR", http.NoBody)
		if err != nil {
			log.Fatal(err)
		}
		request.Host = name
		fmt.Println(name, sent(request))
	}
	// Output:
	// sandbox.internal 200
	// localhost 200
	// elsewhere.example.com 403
}

// A test in any language controls the host over HTTP.
func ExampleWithControl() {
	host := sandbox.New(sandbox.WithControl())
	server := httptest.NewServer(host)
	defer server.Close()
	response, err := http.Post(server.URL+"/_host/faults", "application/json", strings.NewReader(
		`{"method":"GET","path":"/utils/rates/{currency}","fault":{"kind":"garbage"}}`))
	if err != nil {
		log.Fatal(err)
	}
	_ = response.Body.Close()
	fmt.Println(response.StatusCode)
	fmt.Println(statusOf(server.URL + "/utils/rates/EUR"))
	fmt.Println(statusOf(server.URL + "/utils/rates/EUR"))
	// Output:
	// 201
	// 502
	// 200
}

// A test of one scope registers a key that has no other.
func ExampleHost_RegisterKey() {
	host := sandbox.New()
	key, err := signing.Generate()
	if err != nil {
		log.Fatal(err)
	}
	registered, err := host.RegisterKey(sandbox.KeyRegistration{
		Email: host.Credentials().Email, PublicKey: key.PublicKey(), Scopes: []string{"read"},
	})
	fmt.Println(registered.Email, registered.Scopes, err)

	_, err = host.RegisterKey(sandbox.KeyRegistration{PublicKey: key.PublicKey(), Scopes: []string{"reed"}})
	fmt.Println(err != nil)
	// Output:
	// ops@example.com [read] <nil>
	// true
}

// statusOf reads a page, and returns the status of the response.
func statusOf(url string) int {
	request, err := http.NewRequest(http.MethodGet, url, http.NoBody)
	if err != nil {
		panic(err)
	}
	return sent(request)
}

func sent(request *http.Request) int {
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		panic(err)
	}
	_ = response.Body.Close()
	return response.StatusCode
}
