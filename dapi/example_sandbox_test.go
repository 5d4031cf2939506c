package dapi_test

import (
	"context"
	"fmt"
	"log"

	"github.com/shopspring/decimal"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/recorded"
)

// A sandbox host credits an account. With an idempotency key, a repeated call does not credit it again.
func ExampleSandbox_Deposit() {
	server := recorded.Serve() // stands for the service
	defer server.Close()
	ctx := context.Background()
	account, err := dapi.NewSelfServe(server.URL, dapi.Developer{Email: server.Email, Key: server.Key})
	if err != nil {
		log.Fatal(err)
	}
	treasury, err := account.Sandbox.Treasury(ctx)
	if err != nil {
		log.Fatal(err)
	}

	deposit := dapi.DepositCreate{Amount: treasury.MaxCredit, Currency: dapi.USDC}
	credited, err := account.Sandbox.Deposit(ctx, deposit, moneymovement.IdempotencyKey("first-deposit"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(credited.Amount, credited.Currency)

	deposit.Amount = treasury.MaxCredit.Add(decimal.NewFromInt(1))
	_, err = account.Sandbox.Deposit(ctx, deposit, moneymovement.IdempotencyKey("second-deposit"))
	var above *errors.AmountAboveMaximum
	if errors.As(err, &above) {
		fmt.Println("one call credits at most", above.MaxCredit)
	}
	// Output:
	// 100 USDC
	// one call credits at most 100
}

// A test of your own program sets the status of a payout.
func ExampleSandbox_SetPayoutStatus() {
	server := recorded.Serve() // stands for the service
	defer server.Close()
	ctx := context.Background()
	account, err := dapi.NewSelfServe(server.URL, dapi.Developer{Email: server.Email, Key: server.Key})
	if err != nil {
		log.Fatal(err)
	}
	payment, err := payBob(ctx, account)
	if err != nil {
		log.Fatal(err)
	}

	if _, err = account.Sandbox.SetPayoutStatus(ctx, payment.Payout.ID, dapi.PayoutStatusRefunded); err != nil {
		log.Fatal(err)
	}
	_, err = account.Payouts.Wait(ctx, payment.Payout.ID)
	var ended *dapi.PayoutNotCompleted
	if errors.As(err, &ended) {
		fmt.Println("the payout is", ended.Payout.Status)
	}
	// Output: the payout is refunded
}
