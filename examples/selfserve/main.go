// Selfserve pays from an account whose owner holds its only key: go run ./examples/selfserve
//
// The service has two products. Whitelabel (dapi.NewIntegrator) is for a backend that creates clients and signs for
// them. Self-serve (dapi.NewSelfServe), shown here, is for the owner of one account, who signs the account's own
// operations. It has no clients, and no verification or rails, which belong to clients. Payments work the same way in
// both products.
package main

import (
	"context"
	"io"

	"github.com/shopspring/decimal"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/examples/internal/customer"
	"github.com/moneymovement/moneymovement-go/examples/internal/program"
)

func main() { program.Main(run) }

func run(ctx context.Context, args []string, out io.Writer) error {
	p, err := program.Open("selfserve", args, out)
	if err != nil {
		return err
	}
	defer p.Close()
	owner, err := dapi.NewSelfServe(p.BaseURL, dapi.Developer{Email: p.Email, Key: p.Key}, p.Options()...)
	if err != nil {
		return err
	}
	p.Step("acting as %s, with the account's own key %s", p.Email, p.Key)
	if err := customer.Credit(ctx, owner.Sandbox, decimal.NewFromInt(40), dapi.USDC, p.Name); err != nil {
		return err
	}
	p.Step("credited 40 USDC from the sandbox's faucet")

	landlord, err := owner.Contacts.Create(ctx, dapi.ContactCreate{Name: "Example landlord",
		Account: dapi.SEPA(dapi.IBANAccount{IBAN: "DE89370400440532013000",
			Holder: dapi.AccountHolder{Name: "Example landlord"}})})
	if err != nil {
		return err
	}
	p.Step("created contact %s", landlord.ID)

	payment, err := owner.Payouts.Pay(ctx,
		dapi.PayoutCreate{ContactID: landlord.ID, Amount: decimal.RequireFromString("25.00"), Currency: dapi.USDC,
			PaymentReference: "Rent"},
		moneymovement.DeriveKey(p.Name, "rent", "2026-11"), // one payment for this month, however often this runs
		dapi.PayTerms{Bounds: dapi.Bounds{MaxFee: new(decimal.NewFromInt(1))}})
	payout := payment.Payout
	switch payment.State {
	case moneymovement.PaymentPaid:
		p.Step("booked, signed and confirmed payout %s: %s", payout.ID, payout.Status)
		p.Quote(payout.Quote)
	case moneymovement.PaymentNotPaid, moneymovement.PaymentNeedsDecision, moneymovement.PaymentEnded:
		return err // it says why
	default: // in doubt
		p.Step("it may be paid: call Pay again later, with the same key and terms")
		return err
	}
	if payout, err = owner.Payouts.Wait(ctx, payout.ID, p.Waiting()...); err != nil {
		return err
	}
	p.Step("payout %s is %s", payout.ID, payout.Status)
	return p.Ledger(ctx, owner.Transactions)
}
