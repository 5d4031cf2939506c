package recorded

import (
	"context"
	"strings"
)

// Wallet signs as a wallet of package signing/wallet does. A recorded answer asks for no real signature.
type Wallet struct {
	address string
	sign    func(context.Context, []byte) (string, error)
}

// Address is the wallet's.
func (w *Wallet) Address() string { return w.address }

// SignMessage signs an EIP-191 personal message.
func (w *Wallet) SignMessage(ctx context.Context, message []byte) (string, error) {
	return w.sign(ctx, message)
}

// noWallet has the form of a wallet, and no key.
func noWallet() *Wallet {
	return &Wallet{
		address: "0x" + strings.Repeat("0", 40),
		sign:    func(context.Context, []byte) (string, error) { return "0x" + strings.Repeat("0", 130), nil },
	}
}
