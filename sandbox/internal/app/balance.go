package app

import (
	"cmp"
	"context"

	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/appwire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/platformwire"
)

// ListBalances lists the balance accounts.
func (a *App) ListBalances(ctx context.Context) (wire.Answer, error) {
	t := a.enter(ctx)
	defer a.leave()
	identity, err := t.own.Identity()
	if err != nil {
		return wire.Answer{}, err
	}
	balances, err := t.own.Balances()
	if err != nil {
		return wire.Answer{}, err
	}
	items := make([]appwire.Balance, len(balances))
	for i, balance := range balances {
		items[i] = appwire.Balance{
			ID: identity.UserID + ":" + string(balance.Currency), Currency: string(balance.Currency),
			Available: balance.Available, WalletAddress: identity.Wallet,
		}
	}
	return wire.OK(appwire.BalanceList{Items: items, Total: total(items)}), nil
}

// GetMCPBalance returns the wallet with its dollars, and what the key may still spend.
func (a *App) GetMCPBalance(ctx context.Context) (wire.Answer, error) {
	t := a.enter(ctx)
	defer a.leave()
	key, err := a.Keys.Get(t.caller.KeyID)
	if err != nil {
		return wire.Answer{}, err
	}
	identity, err := t.own.Identity()
	if err != nil {
		return wire.Answer{}, err
	}
	dollars, err := t.dollars()
	return wire.OK(appwire.MCPBalance{
		WalletEmail: identity.Email, WalletAddress: identity.Wallet, USDCBalance: &dollars,
		RemainingAllowance: key.Remaining(),
	}), err
}

// GetApp returns the app of the key, its account and its scopes.
func (a *App) GetApp(ctx context.Context) (wire.Answer, error) {
	t := a.enter(ctx)
	defer a.leave()
	key, err := a.Keys.Get(t.caller.KeyID)
	if err != nil {
		return wire.Answer{}, err
	}
	dollars, err := t.dollars()
	return wire.OK(appwire.App{
		UserName: cmp.Or(t.Profile.displayName(), key.Account.Email), UserEmail: key.Account.Email,
		AppID: key.AppID, AppName: key.AppName, Scopes: key.Scopes,
		Balance: &dollars, RemainingSpendLimit: key.Remaining(),
	}), err
}

// dollars returns the account's balance in USDC.
func (t *turn) dollars() (decimal.Decimal, error) {
	balances, err := t.own.Balances()
	for _, balance := range balances {
		if balance.Currency == platformwire.AssetUSDC {
			return balance.Available, err
		}
	}
	return decimal.Zero, err
}
