// Quickstart sets everything up and sends two payouts: go run ./examples/quickstart
//
// It starts a sandbox host on loopback, makes a developer key, creates a client, credits it, pays a bank account and a
// wallet, and prints the ledger. With -base-url, -email and -key it does the same on another sandbox host.
package main

import (
	"context"
	"io"
	"time"

	"github.com/shopspring/decimal"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/examples/internal/program"
	"github.com/moneymovement/moneymovement-go/signing/wallet"
)

func main() { program.Main(run) }

func run(ctx context.Context, args []string, out io.Writer) error {
	p, err := program.Open("quickstart", args, out)
	if err != nil {
		return err
	}
	defer p.Close()
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	if p.Host != nil {
		p.Step("made developer key %s in a file that only its owner can read", p.Key)
	}

	platform, err := dapi.NewIntegrator(p.BaseURL, dapi.Developer{Email: p.Email, Key: p.Key}, p.Options()...)
	if err != nil {
		return err
	}
	account, err := openAccount(ctx, p, platform)
	if err != nil {
		return err
	}
	bank, err := account.Contacts.Create(ctx, dapi.ContactCreate{Name: "Example beneficiary", Currency: "EUR",
		Account: dapi.SEPA(dapi.BankFields{IBAN: "DE89370400440532013000",
			AccountHolderName: "Example beneficiary"})})
	if err != nil {
		return err
	}
	p.Step("created SEPA contact %s", bank.ID)

	payee, err := wallet.Generate() // a real payee gives you an address
	if err != nil {
		return err
	}
	onBase, err := account.Contacts.Create(ctx, dapi.ContactCreate{Name: "Example wallet",
		Account: dapi.Onchain(dapi.OnchainAccount{WalletAddress: payee.Address(), ChainID: "base", Currency: "USDC"})})
	if err != nil {
		return err
	}
	p.Step("created Base wallet contact %s for %s", onBase.ID, payee.Address())

	// The amounts differ by more than 0.20, because a sandbox host finds the payout of returned money by its amount.
	if err := pay(ctx, p, account, "bank", bank.ID, decimal.RequireFromString("12.50")); err != nil {
		return err
	}
	if err := pay(ctx, p, account, "wallet", onBase.ID, decimal.RequireFromString("7.25")); err != nil {
		return err
	}
	return p.Ledger(ctx, account.Transactions)
}

// openAccount creates a client and credits it. The first call logs in.
func openAccount(ctx context.Context, p *program.Program, platform *dapi.Integrator) (*dapi.Account, error) {
	client, err := platform.Clients.Create(ctx,
		dapi.ClientCreate{Email: p.Name + "@example.com", Type: dapi.ClientTypeBusiness, EntityName: "Example"})
	if err != nil {
		return nil, err
	}
	p.Step("logged in (challenge, signature, token) and created client %s, %s", client.ID, client.Status)
	if client, err = platform.Clients.WaitReady(ctx, client.ID, p.Waiting()...); err != nil {
		return nil, err
	}
	p.Step("client is %s with wallet %s", client.Status, client.BaseSmartWallet)

	account := platform.For(client.ID)
	treasury, err := account.Sandbox.Treasury(ctx)
	if err != nil {
		return nil, err
	}
	credit := decimal.Min(treasury.MaxCredit, decimal.NewFromInt(50))
	_, err = account.Sandbox.Deposit(ctx, dapi.DepositCreate{Amount: credit, Currency: dapi.USDC},
		moneymovement.IdempotencyKey(moneymovement.DeriveKey(p.Name, "credit")))
	if err != nil {
		return nil, err
	}
	p.Step("credited %s USDC from the sandbox treasury (the maximum is %s)", credit, treasury.MaxCredit)
	return account, nil
}

// pay makes a payment, and waits until it arrives. Payouts.Pay books a payout, checks its price and its approval, signs
// and confirms it.
func pay(
	ctx context.Context, p *program.Program, account *dapi.Account, what string, contact dapi.ContactID,
	amount decimal.Decimal,
) error {
	payment, err := account.Payouts.Pay(ctx,
		dapi.PayoutCreate{ContactID: contact, Amount: amount, Currency: dapi.USDC, PaymentReference: p.Name},
		moneymovement.DeriveKey(p.Name, what),
		dapi.PayTerms{Bounds: dapi.Bounds{MaxFee: new(decimal.NewFromInt(1))}})
	if err != nil {
		return err
	}
	payout := payment.Payout
	p.Step("booked %s payout %s of %s %s, checked and signed its approval, confirmed it: %s", what, payout.ID,
		payout.Amount, payout.Currency, payout.Status)
	p.Quote(payout.Quote)
	if payout, err = account.Payouts.Wait(ctx, payout.ID, p.Waiting()...); err != nil {
		return err
	}
	p.Step("%s payout is %s", what, payout.Status)
	return nil
}
