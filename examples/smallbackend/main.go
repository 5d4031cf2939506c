// Smallbackend is a small but complete backend: go run ./examples/smallbackend
//
// It onboards a client, pays, follows each payment until it arrives, and reconciles its rows with the ledger. It
// survives a lost response with a 429 right after it, and a restart: its rows are in a file, and each row is stored
// before a signature and after the call. backend.go has the calls, store.go the rows, and reconcile.go the comparison
// with the ledger.
package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"text/tabwriter"
	"time"

	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/examples/internal/program"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

func main() { program.Main(run) }

func run(ctx context.Context, args []string, out io.Writer) error {
	p, err := program.Open("smallbackend", args, out)
	if err != nil {
		return err
	}
	defer p.Close()
	folder, err := os.MkdirTemp("", "moneymovement-rows-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	file := filepath.Join(folder, "rows.json")
	b, err := start(p, file)
	if err != nil {
		return err
	}

	client, err := b.onboard(ctx, p.Name+"@example.com", "Example")
	if err != nil {
		return err
	}
	p.Step("onboarded client %s: it is %s", client.ID, client.Status)
	supplier, err := prepare(ctx, b.platform.For(client.ID))
	if err != nil {
		return err
	}
	invoice := func(number, amount string) error {
		return b.rows.add(payment{ID: p.Name + "-" + number, Client: client.ID, Contact: supplier,
			Amount: decimal.RequireFromString(amount)})
	}

	p.Step("the first invoice goes well")
	if err := invoice("1", "12.50"); err != nil {
		return err
	}
	if err := b.round(ctx, p); err != nil {
		return err
	}

	p.Step("the second invoice: the response to its confirm is lost, and every call after that is over the rate limit")
	if p.Host != nil {
		p.Host.Arm(http.MethodPost, "/dapi/v1/payouts/{payoutId}/confirm", sandbox.DropAfterCommit())
		limited := sandbox.Respond(http.StatusTooManyRequests, "rate_limited").WithHeader("Retry-After", "300")
		p.Host.Arm(http.MethodPost, "/dapi/v1/payouts/{payoutId}/confirm", limited)
		p.Host.Arm(http.MethodGet, "/dapi/v1/payouts/{payoutId}", limited)
	}
	if err := invoice("2", "7.25"); err != nil {
		return err
	}
	if err := b.round(ctx, p); err != nil {
		return err
	}

	p.Step("the backend starts again, with the rows in the file")
	if b, err = start(p, file); err != nil {
		return err
	}
	p.Skip(5 * time.Minute)
	if err := b.round(ctx, p); err != nil {
		return err
	}

	p.Step("the third invoice is paid, and the payee's bank sends the money back")
	if err := invoice("3", "9.75"); err != nil {
		return err
	}
	if err := b.pay(ctx, b.rows.all()[2]); err != nil {
		return err
	}
	_, err = b.platform.For(client.ID).Sandbox.SetPayoutStatus(ctx, b.rows.all()[2].History.PayoutID,
		dapi.PayoutStatusRefunded)
	if err != nil {
		return err
	}
	if err := b.round(ctx, p); err != nil {
		return err
	}

	differences, err := b.reconcile(ctx, client.ID)
	if err != nil {
		return err
	}
	p.Step("reconciled the rows with the ledger: %d differences", len(differences))
	for _, difference := range differences {
		p.Detail("%s", difference)
	}
	return p.Ledger(ctx, b.platform.For(client.ID).Transactions)
}

// start starts the backend with the rows of the file.
func start(p *program.Program, file string) (*backend, error) {
	platform, err := dapi.NewIntegrator(p.BaseURL, p.Developer(), p.Options()...)
	if err != nil {
		return nil, err
	}
	rows, err := openStore(file)
	if err != nil {
		return nil, err
	}
	now := time.Now
	if p.Host != nil {
		now = p.Host.Now // this program moves its clock
	}
	return &backend{platform: platform, rows: rows, maxFee: decimal.NewFromInt(1), now: now}, nil
}

// prepare credits the client and makes a contact.
func prepare(ctx context.Context, account *dapi.Account) (dapi.ContactID, error) {
	_, err := account.Sandbox.Deposit(ctx, dapi.DepositCreate{Amount: decimal.NewFromInt(50), Currency: dapi.USDC})
	if err != nil {
		return "", err
	}
	supplier, err := account.Contacts.Create(ctx, dapi.ContactCreate{Name: "Example supplier",
		Account: dapi.SEPA(dapi.IBANAccount{IBAN: "DE89370400440532013000",
			Holder: dapi.AccountHolder{Name: "Example supplier"}})})
	if err != nil {
		return "", err
	}
	return supplier.ID, nil
}

// round works once, and prints the rows.
func (b *backend) round(ctx context.Context, p *program.Program) error {
	if err := b.work(ctx); err != nil {
		return err
	}
	table := tabwriter.NewWriter(p.Out, 0, 0, 2, ' ', 0)
	for _, row := range b.rows.all() {
		fmt.Fprintf(table, "    %s\t%s\t%s\tarrived: %t\n", row.ID, row.Amount.StringFixed(2), row.State, row.Arrived)
	}
	return table.Flush()
}
