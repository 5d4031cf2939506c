package refapi

import (
	"context"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// Wallet logs in with a wallet.
type Wallet struct{ low lowLevel }

// LogIn sends a message and the wallet's signatures over it, and returns the status of the login. The description does
// not show which message must be signed. device describes the device that logs in. If DeviceType or DeviceName is
// empty, the service takes ios.
//
// A login can send a transaction on chain, so LogIn is never sent twice. If its response is lost, it fails with
// *errors.OutcomeUnknown.
func (s *Wallet) LogIn(
	ctx context.Context, login WalletLogin, device LogInWalletParams, options ...moneymovement.CallOption,
) (*WalletLoginResult, error) {
	return transport.Of(s).low.LogInWallet(ctx, &device, &login, options)
}
