package refapi

import (
	"context"
	"fmt"
	"io"
	"log/slog"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// Wallet is login with a wallet.
//
// Source: Reference endpoints under /api/v1, wallet login.
type Wallet struct{ low lowLevel }

// LogIn presents a message and the wallet signatures over it, from a device; what is signed is not stated. A device's Type and Name that are
// left empty are the service's default, ios. The login may send a user operation on chain, so that it is sent once: if its answer
// is lost, the error is *errors.OutcomeUnknown.
func (s *Wallet) LogIn(ctx context.Context, login WalletLogin, device LogInWalletParams, options ...moneymovement.CallOption) (*WalletLoginResult, error) {
	return transport.Of(s).low.LogInWallet(ctx, &device, &login, options)
}

// String says how many signatures there are.
func (l WalletLogin) String() string {
	return fmt.Sprintf("WalletLogin(redacted, %d signatures)", len(l.Signatures))
}

// Format writes String for every verb and flag.
func (l WalletLogin) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, l.String()) }

// LogValue logs String.
func (l WalletLogin) LogValue() slog.Value { return slog.StringValue(l.String()) }
