package main

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/shopspring/decimal"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/signing"
)

// backend pays invoices, and knows which payments are under way. It is safe for concurrent use.
type backend struct {
	platform *dapi.Integrator
	account  *dapi.Account
	supplier dapi.ContactID
	name     string

	mu       sync.Mutex
	underWay *sync.WaitGroup // the payments that began with the key in use
}

// pay pays an invoice.
func (b *backend) pay(ctx context.Context, invoice string) error {
	b.mu.Lock()
	underWay := b.underWay
	underWay.Add(1)
	b.mu.Unlock()
	defer underWay.Done()

	payment, err := b.account.Payouts.Pay(ctx,
		dapi.PayoutCreate{ContactID: b.supplier, Amount: decimal.RequireFromString("1.50"), Currency: dapi.USDC},
		moneymovement.DeriveKey(b.name, "invoice", invoice),
		dapi.PayTerms{Bounds: dapi.Bounds{MaxFee: new(decimal.NewFromInt(1))}})
	if err != nil {
		return fmt.Errorf("invoice %s is %s: %w", invoice, payment.State, err)
	}
	return nil
}

// useKey changes to another key, and waits until the payments that began with the old one have ended. After that,
// nothing needs the old key.
func (b *backend) useKey(key signing.Signer) error {
	if err := b.platform.UseKey(key); err != nil {
		return err
	}
	b.mu.Lock()
	before := b.underWay
	b.underWay = new(sync.WaitGroup)
	b.mu.Unlock()
	before.Wait()
	return nil
}

// counting is a key that counts what it signs.
type counting struct {
	signing.Signer
	signatures atomic.Int32
}

// Sign implements [signing.Signer].
func (c *counting) Sign(ctx context.Context, message []byte) ([]byte, error) {
	c.signatures.Add(1)
	return c.Signer.Sign(ctx, message)
}
