package appapi

import (
	"context"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// Account is the profile, verification and balances of the key's owner.
//
// Source: App API, Account and profile.
type Account struct{ low lowLevel }

// Profile answers the owner's profile.
func (s *Account) Profile(ctx context.Context, options ...moneymovement.CallOption) (*UserProfile, error) {
	return transport.Of(s).low.GetProfile(ctx, options)
}

// UpdateProfile saves the names and the address that verification reads: what is absent stays, and what is empty or
// null is cleared.
func (s *Account) UpdateProfile(
	ctx context.Context, profile ProfileUpdate, options ...moneymovement.CallOption,
) (*UserProfile, error) {
	return transport.Of(s).low.UpdateProfile(ctx, &profile, options).
		Or(func(same transport.SameCredential) (*UserProfile, error) {
			return transport.Of(s).low.GetProfile(ctx, []moneymovement.CallOption{same})
		})
}

// KYCLink creates the link under which the owner verifies themselves, or fetches the one that exists.
func (s *Account) KYCLink(ctx context.Context, options ...moneymovement.CallOption) (*KYCLink, error) {
	return transport.Of(s).low.CreateKYCLink(ctx, options).OrZero()
}

// KYCStatus answers how far verification has come, with params.Provider if one is named.
//
// Source: States and transitions, Card and verification.
func (s *Account) KYCStatus(
	ctx context.Context, params GetKYCStatusParams, options ...moneymovement.CallOption,
) (*KYCState, error) {
	return transport.Of(s).low.GetKYCStatus(ctx, &params, options)
}

// Balances answers all balance accounts.
func (s *Account) Balances(ctx context.Context, options ...moneymovement.CallOption) ([]Balance, error) {
	list, err := transport.Of(s).low.ListBalances(ctx, options)
	if err != nil {
		return nil, err
	}
	return list.Items, nil
}

// WalletBalance answers the owner's wallet, what it holds in USDC, and what the key may still spend of it (GET
// /mcp/get_balance).
func (s *Account) WalletBalance(ctx context.Context, options ...moneymovement.CallOption) (*MCPBalance, error) {
	return transport.Of(s).low.GetMCPBalance(ctx, options)
}

// App introspects the key: whom it belongs to, its scopes, and what it may still spend.
func (s *Account) App(ctx context.Context, options ...moneymovement.CallOption) (*App, error) {
	return transport.Of(s).low.GetApp(ctx, options)
}
