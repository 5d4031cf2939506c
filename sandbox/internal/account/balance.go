package account

import (
	"cmp"
	"context"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/appwire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/commonwire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/platformwire"
)

// ListBalances lists the balance accounts.
func (a *Service) ListBalances(ctx context.Context) (wire.Response, error) {
	t := a.begin(ctx)
	defer a.commit()
	identity, err := t.own.Identity()
	if err != nil {
		return wire.Response{}, err
	}
	balances, err := t.own.Balances()
	if err != nil {
		return wire.Response{}, err
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
func (a *Service) GetMCPBalance(ctx context.Context) (wire.Response, error) {
	t := a.begin(ctx)
	defer a.commit()
	key, err := a.Keys.Get(t.caller.KeyID)
	if err != nil {
		return wire.Response{}, err
	}
	identity, err := t.own.Identity()
	if err != nil {
		return wire.Response{}, err
	}
	dollars, err := t.dollars()
	return wire.OK(appwire.MCPBalance{
		WalletEmail: identity.Email, WalletAddress: identity.Wallet, USDCBalance: &dollars,
		RemainingAllowance: key.Remaining(),
	}), err
}

// GetApp returns the app of the key, its account and its scopes.
func (a *Service) GetApp(ctx context.Context) (wire.Response, error) {
	t := a.begin(ctx)
	defer a.commit()
	key, err := a.Keys.Get(t.caller.KeyID)
	if err != nil {
		return wire.Response{}, err
	}
	dollars, err := t.dollars()
	return wire.OK(appwire.App{
		UserName: cmp.Or(t.Profile.displayName(), key.Account.Email), UserEmail: key.Account.Email,
		AppID: key.AppID, AppName: key.AppName, Scopes: key.Scopes,
		Balance: &dollars, RemainingSpendLimit: key.Remaining(),
	}), err
}

// dollars returns the account's balance in USDC.
func (t *txn) dollars() (decimal.Decimal, error) {
	balances, err := t.own.Balances()
	for _, balance := range balances {
		if balance.Currency == platformwire.AssetUSDC {
			return balance.Available, err
		}
	}
	return decimal.Zero, err
}

// ListBanks lists the rails with the bank accounts opened on them.
func (a *Service) ListBanks(ctx context.Context) (wire.Response, error) {
	t := a.begin(ctx)
	defer a.commit()
	rails, err := t.own.Rails()
	if err != nil {
		return wire.Response{}, err
	}
	list, err := bankList(rails)
	return wire.OK(list), err
}

// ActivateBanks opens the named rails, or all rails that can be opened. If one of the named rails cannot be opened, it
// opens none.
func (a *Service) ActivateBanks(ctx context.Context, body appwire.BankActivation) (wire.Response, error) {
	t := a.begin(ctx)
	defer a.commit()
	methods := slices.Compact(slices.Sorted(slices.Values(body.Methods)))
	if len(methods) == 0 {
		var err error
		if methods, err = t.available(); err != nil {
			return wire.Response{}, err
		}
	} else if err := t.offered(methods); err != nil {
		return wire.Response{}, err
	}
	opened := make([]platformwire.Rail, 0, len(methods))
	for _, method := range methods {
		rail, err := t.own.OpenRail(method)
		if err != nil {
			return wire.Response{}, err
		}
		opened = append(opened, rail)
	}
	list, err := bankList(opened)
	return wire.OK(list), err
}

// available lists the methods of rails that can be opened.
func (t *txn) available() ([]string, error) {
	rails, err := t.own.Rails()
	var methods []string
	for _, rail := range rails {
		disabled := slices.Contains(t.settings.RailsDisabled, string(rail.Method))
		if rail.Status == platformwire.RailStatusAvailable && !disabled {
			methods = append(methods, string(rail.Method))
		}
	}
	return methods, err
}

// offered refuses methods that are not on the account's list, before any rail is opened.
func (t *txn) offered(methods []string) error {
	rails, err := t.own.Rails()
	for _, method := range methods {
		listed := slices.ContainsFunc(rails, func(rail platformwire.Rail) bool { return string(rail.Method) == method })
		switch {
		case !listed:
			return wire.InvalidField("methods", "enum", "There is no bank account with the method "+method+".")
		case slices.Contains(t.settings.RailsDisabled, method):
			return wire.RailNotAvailable()
		}
	}
	return err
}

func bankList(rails []platformwire.Rail) (appwire.BankList, error) {
	items := make([]appwire.Bank, len(rails))
	for i, rail := range rails {
		items[i] = appwire.Bank{Method: string(rail.Method), Currency: rail.Currency, Status: string(rail.Status)}
		if rail.VirtualAccount == nil {
			continue
		}
		requisites, err := openly(rail.VirtualAccount.Requisites)
		if err != nil {
			return appwire.BankList{}, err
		}
		items[i].BankAccountID, items[i].Requisites = rail.VirtualAccount.ID, requisites
	}
	return appwire.BankList{Items: items, Total: total(items)}, nil
}

// openly returns requisites as an open object: the description of this surface shows no fields.
func openly(requisites platformwire.Requisites) (open commonwire.OpenObject, err error) {
	text, err := json.Marshal(requisites)
	if err != nil {
		return nil, err
	}
	return open, json.Unmarshal(text, &open)
}
