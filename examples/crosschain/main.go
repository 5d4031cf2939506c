// Crosschain pays a wallet on another chain that expects another token: go run ./examples/crosschain
//
// It is the same call as for any payout. FromChainID and ToChainID name the route, and the quote says how much arrives
// on the other chain.
package main

import (
	"context"
	"fmt"
	"io"

	"github.com/shopspring/decimal"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/examples/internal/program"
	"github.com/moneymovement/moneymovement-go/signing/wallet"
)

func main() { program.Main(run) }

func run(ctx context.Context, args []string, out io.Writer) error {
	p, err := program.Open("crosschain", args, out)
	if err != nil {
		return err
	}
	defer p.Close()
	platform, err := dapi.NewIntegrator(p.BaseURL, p.Developer(), p.Options()...)
	if err != nil {
		return err
	}
	account, err := p.OpenFunded(ctx, platform, decimal.NewFromInt(40), dapi.USDC)
	if err != nil {
		return err
	}
	here, there, err := route(ctx, p, account, "USDT")
	if err != nil {
		return err
	}

	key, err := wallet.Generate() // a real payee gives you an address
	if err != nil {
		return err
	}
	payee, err := account.Contacts.Create(ctx,
		dapi.ContactCreate{Name: "Example payee", Account: dapi.Onchain(dapi.OnchainAccount{
			WalletAddress: key.Address(), ChainID: there.Code, Currency: "USDT",
		})})
	if err != nil {
		return err
	}
	p.Step("created contact %s for %s on %s, which expects USDT", payee.ID, key.Address(), there.Name)

	payment, err := account.Payouts.Pay(ctx, dapi.PayoutCreate{
		ContactID: payee.ID, Amount: decimal.RequireFromString("30.00"), Currency: dapi.USDC,
		FromChainID: here.ChainID, ToChainID: there.ChainID,
	}, moneymovement.DeriveKey(p.Name, "order", "8", "1"), dapi.PayTerms{})
	if err != nil {
		return err
	}
	payout := payment.Payout
	p.Step("booked, signed and confirmed payout %s from chain %d to chain %d: %s", payout.ID, payout.FromChainID,
		payout.ToChainID, payout.Status)
	p.Quote(payout.Quote)
	if payout, err = account.Payouts.Wait(ctx, payout.ID, p.Waiting()...); err != nil {
		return err
	}
	p.Step("payout %s is %s", payout.ID, payout.Status)
	return p.Ledger(ctx, account.Transactions)
}

// route returns Base, where balances are held, and another live chain that has the token.
func route(
	ctx context.Context, p *program.Program, account *dapi.Account, token string,
) (here, there dapi.Chain, err error) {
	chains, err := account.Chains.Live(ctx)
	if err != nil {
		return here, there, err
	}
	p.Step("%d chains are live; these have %s:", len(chains), token)
	for _, chain := range chains {
		for _, listed := range chain.Tokens {
			if chain.Code != "base" && listed.Symbol == token {
				p.Detail("%s (%d) has %s, %d decimals, at %s", chain.Name, chain.ChainID, token, listed.Decimals,
					listed.Address)
				there = chain
			}
		}
		if chain.Code == "base" {
			here = chain
		}
	}
	if here.ChainID == 0 || there.ChainID == 0 {
		return here, there, fmt.Errorf("no live chain besides Base has %s", token)
	}
	return here, there, nil
}
