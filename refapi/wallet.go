package refapi

import (
	"context"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// Wallet is login with a wallet.
//
// Source: Reference endpoints under /api/v1, wallet login.
type Wallet struct{ low lowLevel }

// LogIn presents a message and the wallet signatures over it, from a device; what is signed is not stated. A device's
// Type and Name that are left empty are the service's default, ios. The login may send a user operation on chain, so
// that it is sent once: if its answer is lost, the error is *errors.OutcomeUnknown.
func (s *Wallet) LogIn(
	ctx context.Context, login WalletLogin, device LogInWalletParams, options ...moneymovement.CallOption,
) (*WalletLoginResult, error) {
	return transport.Of(s).low.LogInWallet(ctx, &device, &login, options)
}
