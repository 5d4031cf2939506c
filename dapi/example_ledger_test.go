package dapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"time"

	"github.com/shopspring/decimal"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/internal/recorded"
)

// A job reads the changes of the ledger from time to time. It stores the position with its own data, so it gets each
// change once. The payout is one entry: first it is pending, later it is completed.
func ExampleTransactions_Changes() {
	server := recorded.Serve() // stands for the service
	defer server.Close()
	ctx := context.Background()
	account, err := dapi.NewSelfServe(server.URL, dapi.Developer{Email: server.Email, Key: server.Key})
	if err != nil {
		log.Fatal(err)
	}
	if _, err = payBob(ctx, account); err != nil {
		log.Fatal(err)
	}

	var stored []byte // in a database
	for range 3 {
		var position dapi.LedgerPosition // the zero value is the beginning of the ledger
		if stored != nil {
			if err := json.Unmarshal(stored, &position); err != nil {
				log.Fatal(err)
			}
		}
		for change, err := range account.Transactions.Changes(ctx, dapi.ChangesParams{Position: position}) {
			if err != nil {
				log.Fatal(err)
			}
			amount, known := change.Transaction.Signed()
			fmt.Println(change.Transaction.Type, amount, known, change.Transaction.Status)
			if stored, err = json.Marshal(change.Position); err != nil {
				log.Fatal(err)
			}
		}
		server.Advance(2 * time.Hour)
	}
	// Output:
	// deposit 100 true completed
	// payout -25 true pending
	// payout -25 true completed
}

// A program follows the ledger until its context ends. It sees that the money of a completed payout came back.
func ExampleTransactions_Follow() {
	server := recorded.Serve() // stands for the service
	defer server.Close()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	account, err := dapi.NewSelfServe(server.URL, dapi.Developer{Email: server.Email, Key: server.Key})
	if err != nil {
		log.Fatal(err)
	}
	payment, err := payBob(ctx, account)
	if err != nil {
		log.Fatal(err)
	}
	for _, status := range []dapi.PayoutStatus{dapi.PayoutStatusCompleted, dapi.PayoutStatusRefunded} {
		if _, err = account.Sandbox.SetPayoutStatus(ctx, payment.Payout.ID, status); err != nil {
			log.Fatal(err)
		}
	}

	since := dapi.ChangesParams{Position: dapi.LedgerPositionAt(time.Now().Add(-24 * time.Hour))}
	for change, err := range account.Transactions.Follow(ctx, since,
		moneymovement.PollEvery(time.Second, time.Minute)) {
		if err != nil {
			fmt.Println("the end:", err)
			break
		}
		entry := change.Transaction
		fmt.Println(entry.Type, entry.Direction, entry.Amount, entry.Status)
		if entry.Type == dapi.TransactionTypeRefund && entry.PayoutID == payment.Payout.ID {
			cancel() // enough for an example
		}
	}
	// Output:
	// deposit in 100 completed
	// payout out 25 completed
	// refund in 25 completed
	// the end: context canceled
}

// Signed amounts can be added up: money that left counts as negative.
func ExampleTransaction_Signed() {
	sum := decimal.Zero
	for _, entry := range []dapi.Transaction{
		{Direction: dapi.TransactionDirectionIn, Amount: decimal.NewFromInt(100)},
		{Direction: dapi.TransactionDirectionOut, Amount: decimal.NewFromInt(25)},
	} {
		amount, known := entry.Signed()
		if !known {
			log.Fatal("a direction that this version does not know: ", entry.Direction)
		}
		sum = sum.Add(amount)
	}
	fmt.Println(sum)
	// Output: 75
}
