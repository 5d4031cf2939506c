package main

import (
	"context"
	"fmt"
	"text/tabwriter"

	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/examples/internal/narrate"
)

// unsent is somebody's status whom no start has got to yet.
const unsent status = "unsent"

// summarize says how many are paid, and about each of the others what to do. The error is nil once everybody's money
// has left.
func summarize(ctx context.Context, n narrate.Narrator, people []person, results *results) error {
	count, sum := map[status]int{}, map[status]decimal.Decimal{}
	for _, p := range people {
		known, found := results.of(p.id)
		if !found {
			known.Status = unsent
		}
		count[known.Status]++
		sum[known.Status] = sum[known.Status].Add(p.amount)
	}
	n.Step("summary:")
	table := tabwriter.NewWriter(n.Out, 0, 0, 2, ' ', 0)
	for _, line := range []struct {
		status status
		means  string
	}{
		{completed, "arrived"},
		{funded, "on the way; start again to see it arrive"},
		{unsent, "not begun; start again"},
		{started, "interrupted; start again, the key sees to it that nothing is paid twice"},
		{unknown, "an answer was lost; start again, the key sees to it that nothing is paid twice"},
		{notPaid, "nothing moved; mend it, then start again"},
		{failed, "did not arrive; decide whether to pay under another id"},
		{check, "read what is said about it, and look for it in the ledger before anything else"},
	} {
		if count[line.status] > 0 {
			fmt.Fprintf(table, "    %s\t%d\t%s USDC\t%s\n", line.status, count[line.status],
				sum[line.status].StringFixed(2), line.means)
		}
	}
	if err := table.Flush(); err != nil {
		return err
	}
	for _, p := range people {
		if known, _ := results.of(p.id); known.Note != "" {
			n.Detail("%s: %s", p.id, known.Note)
		}
	}
	left := count[completed] + count[funded]
	switch {
	case left == len(people):
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("interrupted when %d of %d were paid; the same command again goes on", left, len(people))
	}
	return fmt.Errorf("%d of %d are paid", left, len(people))
}
