package signing_test

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/signing"
)

// Make a developer key once, keep its file, and register its public half with the service.
func ExampleGenerate() {
	directory, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(directory)
	path := filepath.Join(directory, "developer.pem")

	key, err := signing.Generate()
	if err != nil {
		log.Fatal(err)
	}
	if err := key.Save(path); err != nil {
		log.Fatal(err)
	}
	loaded, err := signing.LoadDeveloperKey(path)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(loaded.Algorithm(), loaded.PublicKeyBase64() == key.PublicKeyBase64())
	// Output: ecdsa-p256-sha256 true
}

// kms stands for the client of a key-management service, whose private keys never leave it.
type kms struct{ private *ecdsa.PrivateKey }

func (s kms) signDigest(ctx context.Context, digest []byte) ([]byte, error) {
	if err := ctx.Err(); err != nil { // a real client sends the context with its request
		return nil, err
	}
	return s.private.Sign(rand.Reader, digest, crypto.SHA256)
}

// Keep the developer key in a key-management service.
func ExampleFromRemote() {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		log.Fatal(err)
	}
	service := kms{private}

	key, err := signing.FromRemote(&private.PublicKey,
		func(ctx context.Context, digest []byte, _ crypto.SignerOpts) ([]byte, error) {
			return service.signDigest(ctx, digest)
		})
	if err != nil {
		log.Fatal(err)
	}

	signature, err := key.Sign(context.Background(), []byte("challenge"))
	fmt.Println(err, signing.Verify(key.PublicKey(), []byte("challenge"), signature))

	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = key.Sign(ctx, []byte("challenge"))
	fmt.Println(errors.Is(err, context.Canceled))
	// Output:
	// <nil> <nil>
	// true
}

// An approval that says something else than what was asked for is not signed.
func ExampleSignApproval() {
	key, err := signing.Generate()
	if err != nil {
		log.Fatal(err)
	}
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	approval := signing.Approval{ // as the service returned it
		ID: "apr_1",
		Payload: []byte(`{"account":"self","amount":"250","approvalId":"apr_1","currency":"USDC",` +
			`"destination":{"contactId":"ct_9"},"expiresAt":"2026-03-01T12:02:00Z","nonce":"0f1e2d3c",` +
			`"operation":"payout.fund","resourceId":"po_7"}`),
		ExpiresAt: now.Add(2 * time.Minute),
	}
	want := signing.Intent{
		Operation: "payout.fund", ResourceID: "po_7", Account: "self",
		Amount: decimal.NewFromInt(25), Currency: "USDC",
		Destination: signing.Destination{ContactID: "ct_9"},
	}

	_, err = signing.SignApproval(context.Background(), key, approval, want, now)
	var refused *signing.ApprovalRefused
	if errors.As(err, &refused) {
		fmt.Println(refused.Field, "asked for", refused.Want, "but would sign", refused.Got)
	}

	want.Amount = decimal.NewFromInt(250)
	_, err = signing.SignApproval(context.Background(), key, approval, want, now)
	fmt.Println(err)
	// Output:
	// amount asked for 25 but would sign 250
	// <nil>
}
