package program

import (
	"context"
	"strconv"

	"github.com/shopspring/decimal"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
)

// CreateClient creates the program's own client. Its email is its natural key: if the client exists already, the same
// call returns it.
func (p *Program) CreateClient(ctx context.Context, platform *dapi.Integrator) (*dapi.Client, error) {
	return platform.Clients.Create(ctx, dapi.ClientCreate{Email: p.Name + "@example.com", Type: dapi.ClientTypeBusiness,
		EntityName: "Example"})
}

// OpenAccount creates the program's own client, waits until it is ready, and returns the account that acts for it.
func (p *Program) OpenAccount(ctx context.Context, platform *dapi.Integrator) (*dapi.Account, error) {
	client, err := p.CreateClient(ctx, platform)
	if err != nil {
		return nil, err
	}
	if client, err = platform.Clients.WaitReady(ctx, client.ID, p.Waiting()...); err != nil {
		return nil, err
	}
	p.Step("created client %s, which is %s with wallet %s", client.ID, client.Status, client.BaseSmartWallet)
	return platform.For(client.ID), nil
}

// OpenFunded is [Program.OpenAccount] and credits the client from the sandbox's faucet.
func (p *Program) OpenFunded(
	ctx context.Context, platform *dapi.Integrator, amount decimal.Decimal, currency dapi.Asset,
) (*dapi.Account, error) {
	account, err := p.OpenAccount(ctx, platform)
	if err != nil {
		return nil, err
	}
	if err := Credit(ctx, account.Sandbox, amount, currency, p.Name); err != nil {
		return nil, err
	}
	p.Step("credited %s %s from the sandbox's faucet", amount, currency)
	return account, nil
}

// Credit credits an account from the sandbox's faucet, in several calls if the amount is over the faucet's maximum. The
// idempotency keys derive from the name: the same name and amount credit the account once.
func Credit(
	ctx context.Context, faucet *dapi.Sandbox, amount decimal.Decimal, currency dapi.Asset, name string,
) error {
	treasury, err := faucet.Treasury(ctx)
	if err != nil {
		return err
	}
	for part := 1; amount.IsPositive(); part++ {
		credit := decimal.Min(amount, treasury.MaxCredit)
		key := moneymovement.DeriveKey(name, "credit", strconv.Itoa(part), credit.String())
		if _, err := faucet.Deposit(ctx, dapi.DepositCreate{Amount: credit, Currency: currency},
			moneymovement.IdempotencyKey(key)); err != nil {
			return err
		}
		amount = amount.Sub(credit)
	}
	return nil
}

// Verify saves the information that a verification needs, completes the verification, and waits for the decision.
func (p *Program) Verify(ctx context.Context, account *dapi.Account) error {
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
