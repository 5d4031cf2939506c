package payments_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/shopspring/decimal"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/payments"
	"github.com/moneymovement/moneymovement-go/signing"
)

// business returns a processor that is not resumed: it stores payments, and sends nothing. A program that pays opens a
// store of payments/sqlite or payments/postgres, and calls Resume.
func business() *payments.Processor {
	key, err := signing.Generate()
	if err != nil {
		log.Fatal(err)
	}
	platform, err := dapi.NewIntegrator("https://host.example", dapi.Developer{Email: "ops@example.com", Key: key})
	if err != nil {
		log.Fatal(err)
	}
	processor, err := payments.New(payments.NewMemoryStore(), payments.IntegratorServices(platform), payments.Config{})
	if err != nil {
		log.Fatal(err)
	}
	return processor
}

func invoice(number string, amount int64) payments.Payment {
	maxFee := decimal.NewFromInt(1)
	return payments.Payment{
		Key:      moneymovement.DeriveKey("invoice", number),
		Account:  "cl_8fK2",
		Payout:   dapi.PayoutCreate{ContactID: "ct_3dR9", Amount: decimal.NewFromInt(amount), Currency: dapi.USDC},
		Bounds:   dapi.Bounds{MaxFee: &maxFee},
		Metadata: map[string]string{"invoice": number},
	}
}

// The same key with the same terms is the same payment. With other terms, it is refused.
func ExampleProcessor_Submit() {
	ctx := context.Background()
	processor := business()
	for _, payment := range []payments.Payment{invoice("42", 12), invoice("42", 12), invoice("42", 13)} {
		record, err := processor.Submit(ctx, payment)
		if _, reused := errors.AsType[*errors.IdempotencyKeyReused](err); reused {
			fmt.Println("the key belongs to another payment")
			continue
		}
		if err != nil {
			log.Fatal(err) // submit it again with the same key
		}
		fmt.Println(record.State, record.Payout.Amount)
	}
	// Output:
	// accepted 12
	// accepted 12
	// the key belongs to another payment
}

// A person cancels a payment from which no money can have left.
func ExampleProcessor_Decide() {
	ctx := context.Background()
	processor := business()
	record, err := processor.Submit(ctx, invoice("42", 12))
	if err != nil {
		log.Fatal(err)
	}
	record, err = processor.Decide(ctx, record.Key, payments.Cancel("the invoice was wrong"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(record.State, record.Reason.Code, record.Reason.Message)

	_, err = processor.Decide(ctx, record.Key, payments.Retry())
	if impossible, ok := errors.AsType[*payments.NotPossible](err); ok {
		fmt.Println(impossible.Decision, impossible.Problem)
	}
	// Output:
	// refused canceled the invoice was wrong
	// retry the payment does not wait for a decision
}

// restored says that a store was restored from a copy of a time, before the programs start.
func restored(ctx context.Context, store payments.Store, copied time.Time) error {
	operator, err := payments.New(store, payments.Services{}, payments.Config{})
	if err != nil {
		return err
	}
	return operator.MarkRestored(ctx, copied)
}

// A payment that is submitted to a restored store may have been made after the copy. It is searched for first.
func ExampleProcessor_MarkRestored() {
	ctx := context.Background()
	store := payments.NewMemoryStore() // in place of one that keeps the copy
	if err := restored(ctx, store, time.Date(2026, 3, 1, 4, 0, 0, 0, time.UTC)); err != nil {
		log.Fatal(err)
	}
	record, err := payments.Prepare(invoice("42", 12), time.Now()) // Submit does both
	if err == nil {
		record, _, err = store.Insert(ctx, record)
	}
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(record.State, record.Reason.Code, record.FirstUsed.Format(time.RFC3339))
	// Output:
	// accepted in_doubt 2026-03-01T04:00:00Z
}

// A list of the payments that wait for a person, and of those that are in doubt.
func ExampleProcessor_List() {
	ctx := context.Background()
	processor := business()
	if _, err := processor.Submit(ctx, invoice("42", 12)); err != nil {
		log.Fatal(err)
	}
	old := invoice("7", 30)
	old.FirstUsed = time.Now().Add(-time.Hour) // an earlier program may have paid it
	if _, err := processor.Submit(ctx, old); err != nil {
		log.Fatal(err)
	}
	open := payments.ListParams{States: []moneymovement.PaymentState{moneymovement.PaymentNeedsDecision,
		moneymovement.PaymentInDoubt}}
	for record, err := range processor.List(ctx, open) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(record.Metadata["invoice"], record.State, record.MayHaveLeft)
	}
	// Output: 7 in_doubt true
}

// A reader stores the position of each record that it has handled, and goes on from there.
func ExampleProcessor_Watch() {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	processor := business()
	for _, number := range []string{"42", "43"} {
		if _, err := processor.Submit(ctx, invoice(number, 12)); err != nil {
			log.Fatal(err)
		}
	}
	var position payments.Position // stored in your database
	read := func(upTo string) {
		for record, err := range processor.Watch(ctx, position) {
			if err != nil {
				log.Fatal(err)
			}
			fmt.Println(record.Metadata["invoice"], record.State)
			if position = record.Position; record.Metadata["invoice"] == upTo {
				return
			}
		}
	}
	read("43")
	if _, err := processor.Submit(ctx, invoice("44", 12)); err != nil {
		log.Fatal(err)
	}
	read("44")
	// Output:
	// 42 accepted
	// 43 accepted
	// 44 accepted
}

// The ledger has a payout that the program does not know. Processor.Reconcile reads both sides by itself.
func ExampleCompare() {
	day := time.Date(2026, time.May, 4, 0, 0, 0, 0, time.UTC)
	entries := []dapi.Transaction{{ID: "tx_1", Type: dapi.TransactionTypePayout, PayoutID: "po_9kQ4",
		Direction: dapi.TransactionDirectionOut, Status: dapi.TransactionStatusCompleted,
		Amount: decimal.NewFromInt(7), Currency: dapi.USDC, CreatedAt: day.Add(time.Hour)}}
	report, err := payments.Compare(business().List(context.Background(), payments.ListParams{}),
		func(yield func(dapi.Transaction, error) bool) {
			for _, entry := range entries {
				if !yield(entry, nil) {
					return
				}
			}
		}, day, day.AddDate(0, 0, 1))
	if err != nil {
		log.Fatal(err)
	}
	for _, d := range report.Differences {
		fmt.Println(d.Kind, d.PayoutID, d.Ledger)
	}
	// Output: unknown_entry po_9kQ4 7
}
