package main

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/moneymovement/moneymovement-go/dapi"
)

// narrator tells what happens, a line a step.
type narrator struct{ out io.Writer }

func (n narrator) step(format string, args ...any) { fmt.Fprintf(n.out, "• "+format+"\n", args...) }

func (n narrator) detail(format string, args ...any) {
	fmt.Fprintf(n.out, "    "+format+"\n", args...)
}

func (n narrator) progress(p dapi.Progress) {
	n.detail("read %d after %s: %s is %s", p.Reads, p.Waited.Round(10*time.Millisecond), p.Resource, p.Status)
}

// printLedger walks the whole ledger and prints it as an aligned table, amounts by their decimal point.
func (q *quickstart) printLedger(ctx context.Context) error {
	q.step("the ledger, newest first:")
	table := tabwriter.NewWriter(q.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "TIME\tTYPE\tDIRECTION\t  AMOUNT\tCURRENCY\tSTATUS\tPAYOUT")
	for entry, err := range q.account.Transactions.All(ctx, dapi.ListTransactionsParams{}) {
		if err != nil {
			return err
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%8s\t%s\t%s\t%s\n", entry.CreatedAt.UTC().Format(time.TimeOnly), entry.Type, entry.Direction,
			entry.Amount.StringFixed(2), entry.Currency, entry.Status, entry.PayoutID)
	}
	return table.Flush()
}
