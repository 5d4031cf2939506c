// Package customer makes the client accounts that examples move money for: created and ready, with money, verified.
package customer

import (
	"context"
	"strconv"

	"github.com/shopspring/decimal"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/examples/internal/program"
)

// Client creates the program's own client. Its email is its natural key: once it exists, the same call answers it.
func Client(ctx context.Context, p *program.Program, platform *dapi.Integrator) (*dapi.Client, error) {
	return platform.Clients.Create(ctx, dapi.ClientCreate{Email: p.Name + "@example.com", Type: dapi.ClientTypeBusiness,
		EntityName: "Example"})
}

// Open creates the program's own client, waits until it is ready, and acts for it.
func Open(ctx context.Context, p *program.Program, platform *dapi.Integrator) (*dapi.Account, error) {
	client, err := Client(ctx, p, platform)
	if err != nil {
		return nil, err
	}
	if client, err = platform.Clients.WaitReady(ctx, client.ID, p.Waiting()...); err != nil {
		return nil, err
	}
	p.Step("created client %s, which is %s with wallet %s", client.ID, client.Status, client.BaseSmartWallet)
	return platform.For(client.ID), nil
}

// OpenWith is [Open] with a balance from the sandbox's faucet.
func OpenWith(
	ctx context.Context, p *program.Program, platform *dapi.Integrator, amount decimal.Decimal, currency dapi.Asset,
) (*dapi.Account, error) {
	account, err := Open(ctx, p, platform)
	if err != nil {
		return nil, err
	}
	if err := Credit(ctx, account, amount, currency, p.Name); err != nil {
		return nil, err
	}
	p.Step("credited %s %s from the sandbox's faucet", amount, currency)
	return account, nil
}

// Credit credits an account, in as many calls as the faucet's largest credit takes. The name anchors them: the same one
// credits an amount once.
func Credit(
	ctx context.Context, account *dapi.Account, amount decimal.Decimal, currency dapi.Asset, name string,
) error {
	treasury, err := account.Sandbox.Treasury(ctx)
	if err != nil {
		return err
	}
	for part := 1; amount.IsPositive(); part++ {
		credit := decimal.Min(amount, treasury.MaxCredit)
		key := moneymovement.DeriveKey(name, "credit", strconv.Itoa(part), credit.String())
		if _, err := account.Sandbox.Deposit(ctx, dapi.DepositCreate{Amount: credit, Currency: currency},
			moneymovement.IdempotencyKey(key)); err != nil {
			return err
		}
		amount = amount.Sub(credit)
	}
	return nil
}

// Verify saves what a verification needs, completes it, and waits for the decision.
func Verify(ctx context.Context, p *program.Program, account *dapi.Account) error {
	if _, err := account.Verification.Save(ctx, dapi.KYBInformation{
		Applicant:   dapi.Applicant{LegalName: "Example", Country: "DE"}.Map(),
		DocumentIDs: []string{"doc_registration"},
	}); err != nil {
		return err
	}
	if _, err := account.Verification.Complete(ctx); err != nil {
		return err
	}
	decided, err := account.Verification.WaitDecided(ctx, p.Waiting()...)
	if err != nil {
		return err
	}
	p.Step("the client's verification is %s", decided.Status)
	return nil
}
