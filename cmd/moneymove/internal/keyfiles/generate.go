package keyfiles

import (
	"fmt"
	"strings"

	"github.com/moneymovement/moneymovement-go/signing"
	"github.com/moneymovement/moneymovement-go/signing/wallet"
)

// Types are the types of keys that [Generate] makes, the usual one first.
var Types = []string{"p256", "ed25519", "rsa2048", "secp256k1"}

// rsaBits is the longest RSA key whose public half fits into the confirmation of a payout.
const rsaBits = 2048

// Generate returns a new key of a type.
func Generate(kind string) (Key, error) {
	switch kind {
	case "p256":
		return signing.Generate()
	case "ed25519":
		return signing.GenerateEd25519()
	case "rsa2048":
		return signing.GenerateRSA(rsaBits)
	case "secp256k1":
		return wallet.Generate()
	}
	return nil, fmt.Errorf("the type is %q: give %s", kind, strings.Join(Types, ", "))
}
