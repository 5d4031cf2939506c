package wallet_test

import (
	"context"
	"fmt"
	"log"

	"github.com/moneymovement/moneymovement-go/signing/wallet"
)

// Sign a personal message, and find out who signed it.
func ExampleKey_SignMessage() {
	key, err := wallet.ParseHex("4c0883a69102937d6231471b5dbb6204fe5129617082792ae468d01a3f362318")
	if err != nil {
		log.Fatal(err)
	}
	signature, err := key.SignMessage(context.Background(), []byte("Reveal card card_1 at 1772366400"))
	if err != nil {
		log.Fatal(err)
	}
	address, err := wallet.RecoverAddress([]byte("Reveal card card_1 at 1772366400"), signature)
	fmt.Println(address, address == key.Address(), err)
	// Output: 0x2c7536E3605D9C16a7a3D7b1898e529396a65c23 true <nil>
}

// A wallet key can also be a developer key.
func ExampleKey_Sign() {
	key, err := wallet.Generate()
	if err != nil {
		log.Fatal(err)
	}
	signature, err := key.Sign(context.Background(), []byte("challenge"))
	fmt.Println(err, wallet.Verify(key.PublicKey(), []byte("challenge"), signature))
	fmt.Println(key.Algorithm())
	// Output:
	// <nil> <nil>
	// ecdsa-secp256k1-sha256
}
