// Quickstart sends two payouts from nothing: go run ./examples/quickstart
//
// It starts a sandbox host on loopback, makes a developer key, creates a client, credits it, pays a bank account and a wallet, and prints
// the ledger. With -base-url, -email and -key it does the same on a real sandbox host.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	"github.com/shopspring/decimal"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/examples/internal/target"
	"github.com/moneymovement/moneymovement-go/signing/wallet"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "quickstart:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("quickstart", flag.ContinueOnError)
	where := target.Register(flags)
	if err := flags.Parse(args); err != nil {
		return err
	}
	host, err := where.Open(target.DeveloperKey)
	if err != nil {
		return err
	}
	defer host.Close()
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()

	n := narrator{out: out}
	if host.Embedded {
		n.step("started a sandbox host at %s", host.BaseURL)
		n.step("made developer key %s in a file that only its owner can read", host.Key)
	} else {
		n.step("using the sandbox host at %s with key %s", host.BaseURL, host.Key)
	}
	platform, err := dapi.NewWhitelabel(host.BaseURL, dapi.Developer{Email: host.Email, Key: host.Key})
	if err != nil {
		return err
	}
	q := quickstart{narrator: n, platform: platform, name: "quickstart-" + time.Now().UTC().Format("20060102-150405.000")}
	return q.run(ctx)
}

// quickstart is one run against one host.
type quickstart struct {
	narrator
	platform *dapi.Integrator
	name     string // of the run; keys and the client's email derive from it
	account  *dapi.Account
}

func (q *quickstart) run(ctx context.Context) error {
	if err := q.openAccount(ctx); err != nil {
		return err
	}
	bank, err := q.account.Contacts.Create(ctx, dapi.ContactCreate{Name: "Example beneficiary", Currency: "EUR",
		Account: dapi.SEPA(dapi.BankAccount{Currency: "EUR", IBAN: "DE89370400440532013000", AccountHolderName: "Example beneficiary"})})
	if err != nil {
		return err
	}
	q.step("created SEPA contact %s", bank.ID)

	key, err := wallet.Generate()
	if err != nil {
		return err
	}
	onBase, err := q.account.Contacts.Create(ctx, dapi.ContactCreate{Name: "Example wallet",
		Account: dapi.Onchain(dapi.OnchainAccount{WalletAddress: key.Address(), ChainID: "base", Currency: "USDC"})})
	if err != nil {
		return err
	}
	q.step("created Base wallet contact %s for %s", onBase.ID, key.Address())

	// The amounts differ by more than 0.20: a sandbox host attributes returned money to a payout by its amount.
	if err := q.pay(ctx, "bank", bank.ID, decimal.RequireFromString("12.50")); err != nil {
		return err
	}
	if err := q.pay(ctx, "wallet", onBase.ID, decimal.RequireFromString("7.25")); err != nil {
		return err
	}
	return q.printLedger(ctx)
}

// openAccount creates a client and gives it something to spend. The first call logs in.
func (q *quickstart) openAccount(ctx context.Context) error {
	client, err := q.platform.Clients.Create(ctx, dapi.ClientCreate{Email: q.name + "@example.com", Type: dapi.ClientTypeBusiness, EntityName: "Example"})
	if err != nil {
		return err
	}
	q.step("logged in (challenge, signature, token) and created client %s, %s", client.ID, client.Status)

	client, err = q.platform.Clients.WaitReady(ctx, client.ID, dapi.OnProgress(q.progress))
	if err != nil {
		return err
	}
	q.step("client is %s with wallet %s", client.Status, client.BaseSmartWallet)

	q.account = q.platform.For(client.ID)
	treasury, err := q.account.Sandbox.Treasury(ctx)
	if err != nil {
		return err
	}
	credit := decimal.Min(treasury.MaxCredit, decimal.NewFromInt(50))
	if _, err := q.account.Sandbox.Deposit(ctx, dapi.DepositCreate{Amount: credit, Currency: dapi.USDC}, moneymovement.IdempotencyKey(q.name+"-credit")); err != nil {
		return err
	}
	q.step("credited %s USDC from the sandbox treasury (at most %s a call)", credit, treasury.MaxCredit)
	return nil
}

// pay books, checks, signs and confirms a payout, and follows it to its end.
func (q *quickstart) pay(ctx context.Context, what string, contact dapi.ContactID, amount decimal.Decimal) error {
	payout, err := q.account.Payouts.Pay(ctx,
		dapi.PayoutCreate{ContactID: contact, Amount: amount, Currency: dapi.USDC, PaymentReference: q.name},
		moneymovement.IdempotencyKey(q.name+"-"+what))
	if err != nil {
		return err
	}
	q.step("booked %s payout %s of %s %s, checked and signed its approval, confirmed it: %s", what, payout.ID, payout.Amount, payout.Currency, payout.Status)
	if quote := payout.Quote; quote != nil {
		q.detail("quote: %s %s arrive, fee %s %s", quote.DestinationAmount, quote.DestinationCurrency, quote.Fee, quote.SourceCurrency)
	}
	payout, err = q.account.Payouts.Wait(ctx, payout.ID, dapi.PollEvery(100*time.Millisecond, 5*time.Second), dapi.OnProgress(q.progress))
	if err != nil {
		return err
	}
	q.step("%s payout is %s", what, payout.Status)
	return nil
}
