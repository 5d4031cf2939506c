// Walletpayout pays a wallet on Base in the token that the balance is held in: go run ./examples/walletpayout
//
// Such a payout is direct. Nothing is converted: the amount that leaves is the amount that arrives.
package main

import (
	"context"
	"io"

	"github.com/shopspring/decimal"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/examples/internal/program"
	"github.com/moneymovement/moneymovement-go/signing/wallet"
)

func main() { program.Main(run) }

func run(ctx context.Context, args []string, out io.Writer) error {
	p, err := program.Open("walletpayout", args, out)
	if err != nil {
		return err
	}
	defer p.Close()
	platform, err := dapi.NewIntegrator(p.BaseURL, p.Developer(), p.Options()...)
	if err != nil {
		return err
	}
	account, err := p.OpenFunded(ctx, platform, decimal.NewFromInt(20), dapi.EURC)
	if err != nil {
		return err
	}

	key, err := wallet.Generate() // a real payee gives you an address
	if err != nil {
		return err
	}
	payee, err := account.Contacts.Create(ctx,
		dapi.ContactCreate{Name: "Example payee", Account: dapi.Onchain(dapi.OnchainAccount{
			WalletAddress: key.Address(), ChainID: "base", Currency: "EURC",
		})})
	if err != nil {
		return err
	}
	p.Step("created contact %s for %s on Base, which expects EURC", payee.ID, key.Address())

	payment, err := account.Payouts.Pay(ctx,
		dapi.PayoutCreate{ContactID: payee.ID, Amount: decimal.RequireFromString("7.25"), Currency: dapi.EURC,
			PaymentReference: "Order 7"},
		moneymovement.DeriveKey(p.Name, "order", "7"), dapi.PayTerms{})
	if err != nil {
		return err
	}
	payout := payment.Payout
	p.Step("booked, signed and confirmed payout %s: %s", payout.ID, payout.Status)
	p.Quote(payout.Quote)
	if payout, err = account.Payouts.Wait(ctx, payout.ID, p.Waiting()...); err != nil {
		return err
	}
	p.Step("payout %s is %s in transaction %s", payout.ID, payout.Status, payout.TransactionHash)
	return p.Ledger(ctx, account.Transactions)
}
