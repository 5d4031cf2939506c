package appapi

import (
	"context"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// Account reads and updates the profile, the verification and the balances of the key's owner.
type Account struct{ low lowLevel }

// Profile returns the owner's profile.
func (s *Account) Profile(ctx context.Context, options ...moneymovement.CallOption) (*UserProfile, error) {
	return transport.Of(s).low.GetProfile(ctx, options)
}

// UpdateProfile saves the names and the address that the verification uses, and returns the profile. A field that is
// not set stays as it is. A field that is set to null or to an empty text is cleared.
//
// UpdateProfile is tried again after a lost response, because it has the same effect when it is sent twice.
func (s *Account) UpdateProfile(
	ctx context.Context, profile ProfileUpdate, options ...moneymovement.CallOption,
) (*UserProfile, error) {
	return transport.Of(s).low.UpdateProfile(ctx, &profile, options).
		Or(func(auth transport.Authorizer) (*UserProfile, error) {
			return transport.Of(s).low.with(auth).GetProfile(ctx, nil)
		})
}

// KYCLink returns the link to the page where the owner completes the verification. The service creates the link on the
// first call, and returns the same link later. The description does not show the response: URL and Status are assumed.
func (s *Account) KYCLink(ctx context.Context, options ...moneymovement.CallOption) (*KYCLink, error) {
	return transport.Of(s).low.CreateKYCLink(ctx, options).OrZero()
}

// KYCStatus returns the status of the verification. Status.Final reports whether the verification has ended.
// params.Provider selects the verification by one provider; it is optional.
func (s *Account) KYCStatus(
	ctx context.Context, params GetKYCStatusParams, options ...moneymovement.CallOption,
) (*KYCState, error) {
	return transport.Of(s).low.GetKYCStatus(ctx, &params, options)
}

// Balances returns all balance accounts. Amounts are exact decimals in units of the asset: 12.5 USDC is 12.5.
func (s *Account) Balances(ctx context.Context, options ...moneymovement.CallOption) ([]Balance, error) {
	list, err := transport.Of(s).low.ListBalances(ctx, options)
	if err != nil {
		return nil, err
	}
	return list.Items, nil
}

// WalletBalance returns the owner's wallet, its balance in USDC, and how much USDC the key may still spend. It calls
// GET /mcp/get_balance. RemainingAllowance is nil if the service does not report one.
func (s *Account) WalletBalance(ctx context.Context, options ...moneymovement.CallOption) (*MCPBalance, error) {
	return transport.Of(s).low.GetMCPBalance(ctx, options)
}

// App returns the app and the user that the key belongs to, the scopes of the key, and how much the key may still
// spend. RemainingSpendLimit is nil if the service does not report one. If the service does not accept the key, App
// fails with *errors.Unauthenticated, so this call is a good check at the start of a program.
func (s *Account) App(ctx context.Context, options ...moneymovement.CallOption) (*App, error) {
	return transport.Of(s).low.GetApp(ctx, options)
}
