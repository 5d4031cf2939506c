// Keyrotation replaces a developer key while payments run: go run ./examples/keyrotation
//
// Developer keys never change. To rotate one, register a second key, call UseKey, wait for the calls that began with
// the first key, and delete the first key. No payment fails, and nothing is paid twice: the idempotency key says which
// payment is meant, whichever developer key signs it.
//
// You register and delete keys in the service's own application; the API has no call for it. On its own host, this
// program does that itself. For another host, register the second key there and name its file with -second-key.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"strconv"
	"sync"

	"github.com/shopspring/decimal"
	"golang.org/x/sync/errgroup"

	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/examples/internal/customer"
	"github.com/moneymovement/moneymovement-go/examples/internal/program"
	"github.com/moneymovement/moneymovement-go/sandbox"
	"github.com/moneymovement/moneymovement-go/signing"
)

// payments is how many the program makes. It rotates the key after a third of them.
const payments = 30

func main() { program.Main(run) }

func run(ctx context.Context, args []string, out io.Writer) error {
	var secondFile string
	p, err := program.Open("keyrotation", args, out, func(flags *flag.FlagSet) {
		flags.StringVar(&secondFile, "second-key", "", "`file` (PEM) of the second developer key, for another host")
	})
	if err != nil {
		return err
	}
	defer p.Close()
	first := &counting{Signer: p.Key}
	platform, err := dapi.NewIntegrator(p.BaseURL, dapi.Developer{Email: p.Email, Key: first}, p.Options()...)
	if err != nil {
		return err
	}
	account, err := customer.OpenWith(ctx, p, platform, decimal.NewFromInt(2*payments), dapi.USDC)
	if err != nil {
		return err
	}
	supplier, err := account.Contacts.Create(ctx, dapi.ContactCreate{Name: "Example supplier",
		Account: dapi.SEPA(dapi.IBANAccount{IBAN: "DE89370400440532013000",
			Holder: dapi.AccountHolder{Name: "Example supplier"}})})
	if err != nil {
		return err
	}
	key, err := secondKey(p, secondFile)
	if err != nil {
		return err
	}
	second := &counting{Signer: key}

	p.Step("paying %d invoices, 4 at the same time; the key changes after %d", payments, payments/3)
	backend := &backend{platform: platform, account: account, supplier: supplier.ID, name: p.Name,
		underWay: new(sync.WaitGroup)}
	group, paying := errgroup.WithContext(ctx)
	group.SetLimit(4)
	for invoice := range payments {
		if invoice == payments/3 {
			group.Go(func() error { return rotate(p, backend, second) })
		}
		group.Go(func() error { return backend.pay(paying, strconv.Itoa(invoice)) })
	}
	if err := group.Wait(); err != nil {
		return err
	}
	p.Step("paid %d invoices; the first key signed %d times, the second %d times (a login, and once for each payment)",
		payments, first.signatures.Load(), second.signatures.Load())
	return checkLedger(ctx, p, account)
}

// rotate changes to the second key, and deletes the first when nothing needs it.
func rotate(p *program.Program, backend *backend, second signing.Signer) error {
	if err := backend.useKey(second); err != nil {
		return err
	}
	if bytes.Equal(second.PublicKey(), p.Key.PublicKey()) {
		p.Step("the payments that began before the change have ended; the key is the same, so there is none to delete")
		return nil
	}
	p.Step("new payments use the second key; the payments that began with the first key have ended")
	if p.Host == nil {
		p.Step("now delete the first key in the service's application")
		return nil
	}
	// The owner of the account does this in the service's application.
	for _, key := range p.Host.Keys() {
		if string(key.PublicKey) == string(p.Key.PublicKey()) {
			if err := p.Host.DeleteKey(key.ID); err != nil {
				return err
			}
			p.Step("deleted the first key, %s; its sessions end at once", key.ID)
		}
	}
	return nil
}

// secondKey registers a new key on the program's own host. On another host, it loads the key that is registered there.
func secondKey(p *program.Program, file string) (*signing.DeveloperKey, error) {
	switch {
	case file != "":
		return signing.LoadDeveloperKey(file)
	case p.Host == nil:
		p.Step("the flag -second-key is not set, so the program goes on with the same key")
		return p.Key, nil
	}
	key, err := signing.Generate()
	if err != nil {
		return nil, err
	}
	registered, err := p.Host.RegisterKey(sandbox.KeyRegistration{Email: p.Email, PublicKey: key.PublicKey()})
	if err != nil {
		return nil, err
	}
	p.Step("registered a second key, %s", registered.ID)
	return key, nil
}

// checkLedger compares the ledger with the invoices: one payout for each.
func checkLedger(ctx context.Context, p *program.Program, account *dapi.Account) error {
	paid := 0
	for entry, err := range account.Transactions.All(ctx, dapi.ListTransactionsParams{Limit: 100}) {
		if err != nil {
			return err
		}
		if entry.Type == dapi.TransactionTypePayout {
			paid++
		}
	}
	if paid != payments {
		return fmt.Errorf("the ledger has %d payouts for %d invoices", paid, payments)
	}
	p.Step("the ledger has %d payouts: every invoice was paid, and none twice", paid)
	return nil
}
