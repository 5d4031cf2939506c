// Kms logs in and pays with a key that never leaves a key-management service: go run ./examples/kms
//
// signing.FromRemote makes a developer key from a function that signs over the network. The function gets the context
// of the call, with its deadline. The SDK verifies each signature before it uses it.
package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/shopspring/decimal"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/examples/internal/program"
	"github.com/moneymovement/moneymovement-go/signing"
)

func main() { program.Main(run) }

func run(ctx context.Context, args []string, out io.Writer) error {
	p, err := program.Open("kms", args, out)
	if err != nil {
		return err
	}
	defer p.Close()
	vault, err := openVault(p.KeyFile)
	if err != nil {
		return err
	}
	key, err := signing.FromRemote(vault.Public(), vault.Sign)
	if err != nil {
		return err
	}
	p.Step("the key is %v; it cannot be saved: %v", key, key.Save("developer.pem"))

	platform, err := dapi.NewIntegrator(p.BaseURL, dapi.Developer{Email: p.Email, Key: key}, p.Options()...)
	if err != nil {
		return err
	}
	account, err := p.OpenFunded(ctx, platform, decimal.NewFromInt(20), dapi.USDC)
	if err != nil {
		return err
	}
	p.Step("the vault has signed %d time: the login", vault.signatures.Load())

	supplier, err := account.Contacts.Create(ctx, dapi.ContactCreate{Name: "Example supplier",
		Account: dapi.SEPA(dapi.BankFields{IBAN: "DE89370400440532013000",
			AccountHolderName: "Example supplier"})})
	if err != nil {
		return err
	}
	asked := dapi.PayoutCreate{ContactID: supplier.ID, Amount: decimal.RequireFromString("12.50"), Currency: dapi.USDC}
	invoice := moneymovement.DeriveKey(p.Name, "invoice", "42", "1")

	var stored dapi.History // your program stores it in its database
	pay := func(ctx context.Context) (dapi.Payment, error) {
		payment, err := account.Payouts.Pay(ctx, asked, invoice, dapi.PayTerms{History: stored,
			Journal: func(_ context.Context, history dapi.History) error { stored = history; return nil }})
		stored = payment.History
		return payment, err
	}

	p.Step("the vault is slow, and the payment has a deadline of half a second")
	late, err := hurried(ctx, vault, pay)
	if late.State != moneymovement.PaymentNotPaid || !errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("the deadline did not end the payment, which is %s: %w", late.State, err)
	}
	p.Detail("no money moved: %v", err)

	p.Step("the vault signs with another version of the key")
	vault.rotate(true)
	_, err = pay(ctx)
	if _, refused := errors.AsType[*signing.RemoteSignatureRefused](err); !refused {
		return fmt.Errorf("a signature of another key was accepted: %w", err)
	}
	p.Detail("%v", err)

	vault.rotate(false)
	payment, err := pay(ctx)
	if err != nil {
		return err
	}
	payout, err := account.Payouts.Wait(ctx, payment.Payout.ID, p.Waiting()...)
	if err != nil {
		return err
	}
	p.Step("the vault works again: payout %s is %s", payout.ID, payout.Status)
	return p.Ledger(ctx, account.Transactions)
}

// hurried pays with a deadline that ends before the vault signs.
func hurried(
	ctx context.Context, vault *vault, pay func(context.Context) (dapi.Payment, error),
) (dapi.Payment, error) {
	vault.takes(time.Hour)
	defer vault.takes(0)
	soon, cancel := context.WithTimeout(ctx, 500*time.Millisecond)
	defer cancel()
	return pay(soon)
}
