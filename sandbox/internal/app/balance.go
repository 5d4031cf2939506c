package app

import (
	"cmp"
	"context"

	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/appwire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/platformwire"
)

// ListBalances lists the balance accounts. Source: App API, Account and profile.
func (a *App) ListBalances(ctx context.Context, _ appwire.ListBalancesRequestObject) (appwire.ListBalancesResponseObject, error) {
	t := a.enter(ctx)
	defer a.leave()
	identity, err := t.own.Identity()
	if err != nil {
		return nil, err
	}
	balances, err := t.own.Balances()
	if err != nil {
		return nil, err
	}
	items := make([]appwire.Balance, len(balances))
	for i, balance := range balances {
		items[i] = appwire.Balance{
			ID: identity.UserID + ":" + string(balance.Currency), Currency: string(balance.Currency),
			Available: balance.Available, WalletAddress: identity.Wallet,
		}
	}
	return appwire.ListBalances200JSONResponse{Items: items, Total: total(items)}, nil
}

// GetMCPBalance answers the wallet with its dollars, and what the key may still spend. Source: App API, Account and
// profile.
func (a *App) GetMCPBalance(ctx context.Context, _ appwire.GetMCPBalanceRequestObject) (appwire.GetMCPBalanceResponseObject, error) {
	t := a.enter(ctx)
	defer a.leave()
	key, err := a.Keys.Get(t.caller.KeyID)
	if err != nil {
		return nil, err
	}
	identity, err := t.own.Identity()
	if err != nil {
		return nil, err
	}
	dollars, err := t.dollars()
	return appwire.GetMCPBalance200JSONResponse{
		WalletEmail: identity.Email, WalletAddress: identity.Wallet, UsdcBalance: &dollars, RemainingAllowance: key.Remaining(),
	}, err
}

// GetApp answers whom the key belongs to and what it may do. Source: App API, Account and profile.
func (a *App) GetApp(ctx context.Context, _ appwire.GetAppRequestObject) (appwire.GetAppResponseObject, error) {
	t := a.enter(ctx)
	defer a.leave()
	key, err := a.Keys.Get(t.caller.KeyID)
	if err != nil {
		return nil, err
	}
	dollars, err := t.dollars()
	return appwire.GetApp200JSONResponse{
		UserName: cmp.Or(t.profile.displayName(), key.Account.Email), UserEmail: key.Account.Email,
		AppID: key.AppID, AppName: key.AppName, Scopes: key.Scopes,
		Balance: &dollars, RemainingSpendLimit: key.Remaining(),
	}, err
}

// dollars is what the account holds in USDC.
func (t *turn) dollars() (decimal.Decimal, error) {
	balances, err := t.own.Balances()
	for _, balance := range balances {
		if balance.Currency == platformwire.AssetUSDC {
			return balance.Available, err
		}
	}
	return decimal.Zero, err
}
