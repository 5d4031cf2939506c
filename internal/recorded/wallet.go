package recorded

import (
	"context"
	"strings"
)

// Wallet signs like a wallet of package signing/wallet. A recorded response needs no real signature.
type Wallet struct {
	address string
	sign    func(context.Context, []byte) (string, error)
}

// Address returns the wallet's address.
func (w *Wallet) Address() string { return w.address }

// SignMessage signs an EIP-191 personal message.
func (w *Wallet) SignMessage(ctx context.Context, message []byte) (string, error) {
	return w.sign(ctx, message)
}

// noWallet returns a wallet without a key. Its address and signatures have the right form only.
func noWallet() *Wallet {
	return &Wallet{
		address: "0x" + strings.Repeat("0", 40),
		sign:    func(context.Context, []byte) (string, error) { return "0x" + strings.Repeat("0", 130), nil },
	}
}
