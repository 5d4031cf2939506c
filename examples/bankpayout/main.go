// Bankpayout pays a bank account, with the price shown before anything is signed: go run ./examples/bankpayout
//
// A payout is booked, which gives a price and an approval for two minutes; a person agrees; the developer key signs the
// approval if it says what was asked for; the signature confirms the payout. Payouts.Pay does all of it in one call
// where nobody has to agree.
package main

import (
	"context"
	"io"

	"github.com/shopspring/decimal"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/examples/internal/customer"
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
	platform, err := dapi.NewIntegrator(p.BaseURL, p.Developer())
	if err != nil {
		return err
	}
	account, err := customer.OpenWith(ctx, p, platform, decimal.NewFromInt(50), dapi.USDC)
	if err != nil {
		return err
	}
	supplier, err := account.Contacts.Create(ctx,
		dapi.ContactCreate{Name: "Example supplier",
			Account: dapi.SEPA(dapi.IBANAccount{IBAN: "DE89370400440532013000",
				Holder: dapi.AccountHolder{Type: model.AccountHolderTypeBusiness, BusinessName: "Example supplier"}})})
	if err != nil {
		return err
	}
	if err := showCapabilities(ctx, p, account, supplier.ID); err != nil {
		return err
	}

	// The key says what the payment is for. Whoever asks again with it within 7 days, as after a crash, cannot pay
	// twice.
	invoice := moneymovement.DeriveKey(p.Name, "invoice", "42")
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
	p.Step("agreed: compared the approval with what was asked for, signed it, confirmed it: %s", confirmed.Status)
	arrived, err := account.Payouts.Wait(ctx, confirmed.ID, p.Waiting()...)
	if err != nil {
		return err
	}
	p.Step("payout %s is %s", arrived.ID, arrived.Status)

	again, err := account.Payouts.Pay(ctx, asked, invoice)
	if err != nil {
		return err
	}
	p.Step("asked to pay invoice 42 again: it is payout %s, %s, and nothing more has left", again.ID, again.Status)
	return p.Ledger(ctx, account)
}

// showCapabilities tells what the contact can be paid by, and else what stands in the way.
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
