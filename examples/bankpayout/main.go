// Bankpayout pays a bank account, and shows the price before anything is signed: go run ./examples/bankpayout
//
// Payouts.Book books the payout: the service returns a price and an approval, which are valid for two minutes. A person
// agrees to the price. Payouts.Confirm compares the approval with what was asked for, signs it with the developer key,
// and confirms the payout. If nobody has to agree, Payouts.Pay does all of this in one call.
package main

import (
	"context"
	"io"

	"github.com/shopspring/decimal"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/examples/internal/program"
	"github.com/moneymovement/moneymovement-go/model"
)

func main() { program.Main(run) }

func run(ctx context.Context, args []string, out io.Writer) error {
	p, err := program.Open("bankpayout", args, out)
	if err != nil {
		return err
	}
	defer p.Close()
	platform, err := dapi.NewIntegrator(p.BaseURL, p.Developer(), p.Options()...)
	if err != nil {
		return err
	}
	account, err := p.OpenFunded(ctx, platform, decimal.NewFromInt(50), dapi.USDC)
	if err != nil {
		return err
	}
	supplier, err := account.Contacts.Create(ctx,
		dapi.ContactCreate{Name: "Example supplier",
			Account: dapi.SEPA(dapi.BankFields{IBAN: "DE89370400440532013000",
				AccountHolderType: model.AccountHolderTypeBusiness, AccountHolderBusinessName: "Example supplier"})})
	if err != nil {
		return err
	}
	if err := showCapabilities(ctx, p, account, supplier.ID); err != nil {
		return err
	}

	// The key says which payment this is. Within 7 days, a second call with the same key, for example after a crash,
	// does not pay again.
	invoice := moneymovement.DeriveKey(p.Name, "invoice", "42", "1")
	asked := dapi.PayoutCreate{ContactID: supplier.ID, Amount: decimal.RequireFromString("25.00"), Currency: dapi.USDC,
		PaymentReference: "Invoice 42", Purpose: "services"}
	booked, err := account.Payouts.Book(ctx, asked, moneymovement.IdempotencyKey(invoice))
	if err != nil {
		return err
	}
	p.Step("booked payout %s, %s; no money has moved", booked.ID, booked.Status)
	p.Quote(booked.Quote)

	confirmed, err := account.Payouts.Confirm(ctx, asked, booked)
	if err != nil {
		return err
	}
	p.Step("a person agreed to the price; checked and signed the approval, and confirmed the payout, which is now %s",
		confirmed.Status)
	arrived, err := account.Payouts.Wait(ctx, confirmed.ID, p.Waiting()...)
	if err != nil {
		return err
	}
	p.Step("payout %s is %s", arrived.ID, arrived.Status)

	again, err := account.Payouts.Pay(ctx, asked, invoice, dapi.PayTerms{})
	if err != nil {
		return err
	}
	p.Step("paid invoice 42 again with the same key: it is payout %s, %s, and no more money has left", again.Payout.ID,
		again.Payout.Status)
	return p.Ledger(ctx, account.Transactions)
}

// showCapabilities prints the methods that the contact can be paid by, and what prevents a payment.
func showCapabilities(ctx context.Context, p *program.Program, account *dapi.Account, id dapi.ContactID) error {
	capabilities, err := account.Contacts.Capabilities(ctx, id)
	if err != nil {
		return err
	}
	p.Step("contact %s can be paid: %t", id, len(capabilities.Blockers) == 0)
	for _, method := range capabilities.Methods {
		p.Detail("by %s in %s", method.Method, method.Currency)
	}
	for _, blocker := range capabilities.Blockers {
		p.Detail("%s %s: %s", blocker.Code, blocker.Field, blocker.Message)
	}
	return nil
}
