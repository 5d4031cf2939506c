package dapi_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/shopspring/decimal"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/recorded"
)

// An integrator creates a client, credits it in the sandbox, and pays a supplier in one call.
func Example() {
	// This server stands for the service. Your program has the service's base URL, and signing.LoadDeveloperKey reads
	// its key.
	server := recorded.Serve()
	defer server.Close()
	ctx := context.Background()

	platform, err := dapi.NewIntegrator(server.URL, dapi.Developer{Email: server.Email, Key: server.Key})
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
	if _, err = acme.Sandbox.Deposit(ctx, dapi.DepositCreate{Amount: decimal.RequireFromString("100"),
		Currency: dapi.USDC}); err != nil {
		log.Fatal(err)
	}

	bob, err := acme.Contacts.Create(ctx, dapi.ContactCreate{
		Name: "Bob",
		Account: dapi.SEPA(dapi.IBANAccount{IBAN: "DE89370400440532013000",
			Holder: dapi.AccountHolder{Name: "Bob Roe"}}),
	})
	if err != nil {
		log.Fatal(err)
	}
	fee := decimal.NewFromInt(1)
	payment, err := acme.Payouts.Pay(ctx, dapi.PayoutCreate{
		ContactID: bob.ID, Amount: decimal.RequireFromString("25"), Currency: dapi.USDC, PaymentReference: "Invoice 42",
	}, "invoice-42", dapi.PayTerms{Bounds: dapi.Bounds{MaxFee: &fee}})
	if err != nil { // for the states of a payment, see the example of Payouts.Pay
		log.Fatal(err)
	}
	payout, err := acme.Payouts.Wait(ctx, payment.Payout.ID)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(payout.Status, payout.Amount, payout.Currency, "as", payout.Quote.DestinationAmount,
		payout.Quote.DestinationCurrency)
	// Output: completed 25 USDC as 22.42 EUR
}

// The service refuses a key that was used for other terms. The error has the id of the payout that has the key.
func ExamplePayouts_Pay_idempotencyKeyReused() {
	server := recorded.Serve() // stands for the service
	defer server.Close()
	ctx := context.Background()
	account, err := dapi.NewSelfServe(server.URL, dapi.Developer{Email: server.Email, Key: server.Key})
	if err != nil {
		log.Fatal(err)
	}
	bob, err := account.Contacts.Create(ctx, dapi.ContactCreate{Name: "Bob", Account: dapi.Onchain(dapi.OnchainAccount{
		WalletAddress: "0x52908400098527886E0F7030069857D2E4169EE7", ChainID: "base", Currency: "USDC",
	})})
	if err != nil {
		log.Fatal(err)
	}
	const key moneymovement.Key = "invoice-42"
	first, err := account.Payouts.Book(ctx,
		dapi.PayoutCreate{ContactID: bob.ID, Amount: decimal.RequireFromString("25"), Currency: dapi.USDC},
		moneymovement.IdempotencyKey(key))
	if err != nil {
		log.Fatal(err)
	}

	another, err := dapi.NewSelfServe(server.URL, dapi.Developer{Email: server.Email, Key: server.Key})
	if err != nil {
		log.Fatal(err)
	}
	payment, _ := another.Payouts.Pay(ctx, dapi.PayoutCreate{ContactID: bob.ID,
		Amount: decimal.RequireFromString("26"), Currency: dapi.USDC}, key, dapi.PayTerms{})
	fmt.Println(payment.State, payment.Unpaid) // by the history, an earlier call may have paid
	var reused *errors.IdempotencyKeyReused
	if errors.As(payment.Refusal, &reused) {
		fmt.Println(reused.Code, reused.IdempotencyKey, reused.PayoutID == string(first.ID), reused.MovedByCall())
	}
	// Output:
	// needs_decision false
	// idempotency_key_reused invoice-42 true not_moved
}

// A person sees the price before the key signs. The price and the approval are valid for two minutes.
func ExamplePayouts_Confirm() {
	server := recorded.Serve() // stands for the service
	defer server.Close()
	ctx := context.Background()
	account, err := dapi.NewSelfServe(server.URL, dapi.Developer{Email: server.Email, Key: server.Key})
	if err != nil {
		log.Fatal(err)
	}
	if _, err = account.Sandbox.Deposit(ctx, dapi.DepositCreate{Amount: decimal.RequireFromString("100"),
		Currency: dapi.USDC}); err != nil {
		log.Fatal(err)
	}
	bob, err := account.Contacts.Create(ctx, dapi.ContactCreate{
		Name: "Bob",
		Account: dapi.SEPA(dapi.IBANAccount{IBAN: "DE89370400440532013000",
			Holder: dapi.AccountHolder{Name: "Bob Roe"}}),
	})
	if err != nil {
		log.Fatal(err)
	}

	asked := dapi.PayoutCreate{ContactID: bob.ID, Amount: decimal.RequireFromString("25"), Currency: dapi.USDC}
	booked, err := account.Payouts.Book(ctx, asked, moneymovement.IdempotencyKey("invoice-42"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("Bob gets %s %s for %s %s, fee %s. Pay?\n", booked.Quote.DestinationAmount,
		booked.Quote.DestinationCurrency,
		booked.Quote.SourceAmount, booked.Quote.SourceCurrency, booked.Quote.Fee)

	// The person said yes.
	confirmed, err := account.Payouts.Confirm(ctx, asked, booked)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(confirmed.ID == booked.ID, confirmed.Status)
	// Output:
	// Bob gets 22.42 EUR for 25 USDC, fee 0.5. Pay?
	// true funding
}

// All reads the ledger page by page, the newest entry first.
func ExampleTransactions_All() {
	server := recorded.Serve() // stands for the service
	defer server.Close()
	ctx := context.Background()
	account, err := dapi.NewSelfServe(server.URL, dapi.Developer{Email: server.Email, Key: server.Key})
	if err != nil {
		log.Fatal(err)
	}
	for _, credit := range []string{"10", "20.5", "30"} {
		if _, err = account.Sandbox.Deposit(ctx, dapi.DepositCreate{Amount: decimal.RequireFromString(credit),
			Currency: dapi.EURC}); err != nil {
			log.Fatal(err)
		}
	}

	for entry, err := range account.Transactions.All(ctx, dapi.ListTransactionsParams{Limit: 2}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(entry.Direction, entry.Amount, entry.Currency, entry.Type)
	}
	// Output:
	// in 30 EURC deposit
	// in 20.5 EURC deposit
	// in 10 EURC deposit
}

// A program that starts again uses the session of its last run and does not log in.
func ExampleNewFileTokenStore() {
	server := recorded.Serve() // stands for the service
	defer server.Close()
	directory, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(directory)
	developer := dapi.Developer{Email: server.Email, Key: server.Key,
		Store: dapi.NewFileTokenStore(filepath.Join(directory, "session"))}

	for range 2 {
		account, err := dapi.NewSelfServe(server.URL, developer)
		if err != nil {
			log.Fatal(err)
		}
		if _, err = account.Chains.List(context.Background(), dapi.ListChainsParams{}); err != nil {
			log.Fatal(err)
		}
	}
	session, err := developer.Store.Load(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(session.AccessToken.Reveal() != "", session.String() != session.AccessToken.Reveal())
	// Output: true true
}

// Journal stores the history of the key before Pay signs, and so the program knows after a restart what an earlier call
// may have done. One switch handles every state.
func ExamplePayouts_Pay() {
	server := recorded.Serve() // stands for the service
	defer server.Close()
	ctx := context.Background()
	account, err := dapi.NewSelfServe(server.URL, dapi.Developer{Email: server.Email, Key: server.Key})
	if err != nil {
		log.Fatal(err)
	}
	eve, err := account.Contacts.Create(ctx, dapi.ContactCreate{
		// the IBAN is missing
		Name: "Eve", Account: dapi.SEPA(dapi.IBANAccount{Holder: dapi.AccountHolder{Name: "Eve Roe"}}),
	})
	if err != nil {
		log.Fatal(err)
	}

	const key moneymovement.Key = "invoice-43"
	store := map[moneymovement.Key]dapi.History{} // stands for your database
	fee := decimal.NewFromInt(1)
	payment, err := account.Payouts.Pay(ctx,
		dapi.PayoutCreate{ContactID: eve.ID, Amount: decimal.RequireFromString("25"), Currency: dapi.USDC}, key,
		dapi.PayTerms{
			Bounds:  dapi.Bounds{MaxFee: &fee},
			History: store[key],
			Journal: func(_ context.Context, history dapi.History) error {
				store[key] = history
				return nil
			},
		})
	store[key] = payment.History
	switch payment.State {
	case moneymovement.PaymentPaid:
		fmt.Println("paid by", payment.Payout.ID)
	case moneymovement.PaymentNotPaid:
		fmt.Println("later, call Pay again:", err)
	case moneymovement.PaymentNeedsDecision:
		var blocked *errors.ContactNotPayable
		if errors.As(err, &blocked) {
			fmt.Println("a person has to look:", blocked.Blockers[0].Code, blocked.Blockers[0].Field)
		}
	case moneymovement.PaymentEnded:
		fmt.Println("to pay, use a new key:", err)
	default: // in doubt
		fmt.Println("later, call Pay again with the same key and terms:", err)
	}
	// Output: a person has to look: account_detail_missing iban
}
