// Reconcile compares a day's payments with the ledger, and reports what differs: go run ./examples/reconcile
//
// The program keeps a copy of the ledger. It reads the changes since the last time: new entries, and entries with
// another status, such as a payout that has arrived. Then it compares the copy with its own rows. A payment that is
// pending today can be compared again tomorrow, and money that comes back later shows in the next comparison.
package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/shopspring/decimal"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/examples/internal/customer"
	"github.com/moneymovement/moneymovement-go/examples/internal/program"
)

func main() { program.Main(run) }

func run(ctx context.Context, args []string, out io.Writer) error {
	p, err := program.Open("reconcile", args, out)
	if err != nil {
		return err
	}
	defer p.Close()
	platform, err := dapi.NewIntegrator(p.BaseURL, p.Developer(), p.Options()...)
	if err != nil {
		return err
	}
	account, err := customer.OpenWith(ctx, p, platform, decimal.NewFromInt(90), dapi.USDC)
	if err != nil {
		return err
	}
	rows, hall, err := aDay(ctx, p, account)
	if err != nil {
		return err
	}

	kept := &books{entries: map[dapi.TransactionID]dapi.Transaction{}}
	if err := report(ctx, p, kept, account, rows); err != nil {
		return err
	}
	if _, err := account.Sandbox.SetPayoutStatus(ctx, hall, dapi.PayoutStatusRefunded); err != nil {
		return err
	}
	p.Step("later, the bank of a payee sends the money back")
	return report(ctx, p, kept, account, rows)
}

// report brings the copy of the ledger up to date, and shows how the rows of the last 24 hours compare.
func report(ctx context.Context, p *program.Program, kept *books, account *dapi.Account, rows []row) error {
	changes, err := kept.update(ctx, account.Transactions)
	if err != nil {
		return err
	}
	p.Step("changes in the ledger: %d; the result of the comparison:", changes)
	table := tabwriter.NewWriter(p.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "    PAYMENT\tOWN\tLEDGER\tVERDICT\tPAYOUT")
	now := time.Now()
	for _, found := range kept.reconcile(rows, now.Add(-24*time.Hour), now.Add(time.Hour)) {
		fmt.Fprintf(table, "    %s\t%s\t%s\t%s\t%s\n", cmp.Or(found.payment, "-"), shown(found.own),
			shown(found.ledger),
			found.verdict, found.payout)
	}
	return table.Flush()
}

func shown(amount *decimal.Decimal) string {
	if amount == nil {
		return "-"
	}
	return amount.StringFixed(2)
}

// aDay makes payments that end in different ways, and rows that do not all agree with them. It also returns the payout
// whose money comes back later.
func aDay(ctx context.Context, p *program.Program, account *dapi.Account) (rows []row, hall dapi.PayoutID, err error) {
	payee, err := account.Contacts.Create(ctx, dapi.ContactCreate{Name: "Example payee",
		Account: dapi.SEPA(dapi.IBANAccount{IBAN: "DE89370400440532013000",
			Holder: dapi.AccountHolder{Name: "Example payee"}})})
	if err != nil {
		return nil, "", err
	}
	for _, payment := range []struct {
		name, amount, noted string // noted is the amount in the row; empty means no row
		end                 dapi.PayoutStatus
	}{
		{"rent", "20.00", "20.00", dapi.PayoutStatusCompleted},
		{"tea", "10.50", "10.00", dapi.PayoutStatusCompleted},
		{"books", "8.25", "8.25", dapi.PayoutStatusProcessing},
		{"typo", "7.00", "7.00", dapi.PayoutStatusFailed},
		{"hall", "15.75", "15.75", dapi.PayoutStatusCompleted},
		{"forgotten", "6.00", "", dapi.PayoutStatusCompleted},
	} {
		paid, err := account.Payouts.Pay(ctx, dapi.PayoutCreate{ContactID: payee.ID, Currency: dapi.USDC,
			Amount: decimal.RequireFromString(payment.amount)}, moneymovement.DeriveKey(p.Name, payment.name),
			dapi.PayTerms{})
		if err != nil {
			return nil, "", err
		}
		payout := paid.Payout
		// The call moves the payout at once. A conflict means that the payout had already arrived.
		_, err = account.Sandbox.SetPayoutStatus(ctx, payout.ID, payment.end)
		if _, arrived := errors.AsType[*errors.Conflict](err); err != nil && !arrived {
			return nil, "", err
		}
		if payment.noted != "" {
			rows = append(rows, row{payment.name, payout.ID, decimal.RequireFromString(payment.noted), time.Now()})
		}
		if payment.name == "hall" {
			hall = payout.ID
		}
	}
	p.Step("made 6 payments; 5 of them are in the program's own rows")
	return append(rows, row{"never sent", "", decimal.NewFromInt(3), time.Now()}), hall, nil
}
