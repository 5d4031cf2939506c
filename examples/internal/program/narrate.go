package program

import (
	"context"
	"fmt"
	"text/tabwriter"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
)

// Step prints what happened.
func (p *Program) Step(format string, args ...any) { fmt.Fprintf(p.Out, "• "+format+"\n", args...) }

// Detail prints more about the step before.
func (p *Program) Detail(format string, args ...any) {
	fmt.Fprintf(p.Out, "    "+format+"\n", args...)
}

// Waiting returns options that make a wait print what it reads.
func (p *Program) Waiting() []moneymovement.WaitOption {
	return []moneymovement.WaitOption{
		moneymovement.OnProgress(func(read moneymovement.Progress) {
			p.Detail("read %d after %s: %s is %s", read.Reads, read.Waited.Round(10*time.Millisecond), read.Resource,
				read.Status)
		}),
	}
}

// Quote prints a price.
func (p *Program) Quote(q *dapi.Quote) {
	if q != nil {
		p.Detail("quote: %s %s leave, %s %s arrive, fee %s %s, good until %s", q.SourceAmount, q.SourceCurrency,
			q.DestinationAmount, q.DestinationCurrency, q.Fee, q.SourceCurrency,
			q.ExpiresAt.UTC().Format(time.TimeOnly))
	}
}

// Requisites prints where a payer sends the money, one detail on each line.
func (p *Program) Requisites(r dapi.Requisites) error {
	table := tabwriter.NewWriter(p.Out, 0, 0, 2, ' ', 0)
	for _, line := range []struct{ name, value string }{
		{"Account holder", r.AccountHolderName},
		{"IBAN", r.IBAN},
		{"BIC", r.BIC},
		{"Account number", r.AccountNumber},
		{"Routing number", r.RoutingNumber},
		{"Payment key", r.PaymentKey},
		{"Bank", r.BankName},
		{"Bank address", r.BankAddress},
		{"Wallet address", r.WalletAddress},
		{"Reference", r.Reference},
	} {
		if line.value != "" {
			fmt.Fprintf(table, "    %s\t%s\n", line.name, line.value)
		}
	}
	return table.Flush()
}

// Ledger prints the whole ledger of an account as a table, in the order in which the service lists it.
func (p *Program) Ledger(ctx context.Context, transactions *dapi.Transactions) error {
	p.Step("the ledger, newest first:")
	table := tabwriter.NewWriter(p.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "    TYPE\tDIRECTION\t  AMOUNT\tCURRENCY\tSTATUS")
	for entry, err := range transactions.All(ctx, dapi.ListTransactionsParams{}) {
		if err != nil {
			return err
		}
		fmt.Fprintf(table, "    %s\t%s\t%8s\t%s\t%s\n", entry.Type, entry.Direction, entry.Amount.StringFixed(2),
			entry.Currency, entry.Status)
	}
	return table.Flush()
}
