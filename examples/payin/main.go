// Payin receives money in two ways, from a bank and from another chain: go run ./examples/payin
//
// A payin has a quote, which is valid for two minutes, and instructions, which say where the payer sends the money.
// Money that arrives at the client's wallet on Base needs no payin: it is balance when the transaction is confirmed.
package main

import (
	"context"
	"io"

	"github.com/shopspring/decimal"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/examples/internal/program"
)

func main() { program.Main(run) }

func run(ctx context.Context, args []string, out io.Writer) error {
	p, err := program.Open("payin", args, out)
	if err != nil {
		return err
	}
	defer p.Close()
	platform, err := dapi.NewIntegrator(p.BaseURL, p.Developer(), p.Options()...)
	if err != nil {
		return err
	}
	account, err := p.OpenAccount(ctx, platform)
	if err != nil {
		return err
	}
	if err := fromChain(ctx, p, account); err != nil {
		return err
	}
	if err := overBank(ctx, p, account); err != nil {
		return err
	}
	return p.Ledger(ctx, account.Transactions)
}

// fromChain receives money from another chain. The client must be ready; it need not be verified.
func fromChain(ctx context.Context, p *program.Program, account *dapi.Account) error {
	const ethereum = 1
	return receive(ctx, p, account, "from Ethereum", dapi.PayinCreate{
		Amount: decimal.RequireFromString("40.00"), Currency: "USDC", OriginChainID: ethereum,
	})
}

// overBank receives money from a bank. It needs a virtual account on a rail, and a rail needs a verified client. The
// onboarding example shows these steps.
func overBank(ctx context.Context, p *program.Program, account *dapi.Account) error {
	if err := p.Verify(ctx, account); err != nil {
		return err
	}
	if _, err := account.Rails.Open(ctx, dapi.RailCreate{Method: dapi.BankMethodSEPA, Currency: "EUR"}); err != nil {
		return err
	}
	rail, err := account.Rails.WaitActive(ctx, dapi.BankMethodSEPA, "EUR", p.Waiting()...)
	if err != nil {
		return err
	}
	return receive(ctx, p, account, "over SEPA", dapi.PayinCreate{
		Amount: decimal.RequireFromString("60.00"), Currency: "EUR", BankID: rail.VirtualAccount.ID,
	})
}

// receive quotes a payin, prints the payer's instructions, makes the sandbox pay, and waits until the payin is
// completed.
func receive(ctx context.Context, p *program.Program, account *dapi.Account, how string, asked dapi.PayinCreate) error {
	payin, err := account.Payins.Create(ctx, asked)
	if err != nil {
		return err
	}
	p.Step("quoted payin %s of %s %s %s", payin.ID, payin.Amount, payin.Currency, how)
	p.Quote(payin.Quote)
	instructions, err := account.Payins.Instructions(ctx, payin.ID)
	if err != nil {
		return err
	}
	p.Step("the payer sends it here:")
	if err := p.Requisites(instructions.Requisites); err != nil {
		return err
	}

	key := moneymovement.IdempotencyKey(moneymovement.DeriveKey(p.Name, "arrive", string(payin.ID)))
	if _, err := account.Sandbox.CompletePayin(ctx, payin.ID, key); err != nil { // in a sandbox, nobody pays
		return err
	}
	if payin, err = account.Payins.Wait(ctx, payin.ID, p.Waiting()...); err != nil {
		return err
	}
	p.Step("payin %s is %s", payin.ID, payin.Status)
	return nil
}
