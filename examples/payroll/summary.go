package main

import (
	"context"
	"fmt"
	"text/tabwriter"

	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/examples/internal/narrate"
)

// unsent is the status of a person whom no start has tried to pay.
const unsent status = "unsent"

// counts returns how many people have each status.
func (r *results) counts(people []person) map[status]int {
	count := map[status]int{}
	for _, p := range people {
		count[r.status(p)]++
	}
	return count
}

func (r *results) status(p person) status {
	known, found := r.of(p.id)
	if !found {
		return unsent
	}
	return known.Status
}

// summarize prints how many people have each status, and what to do about them. The error is nil if the money of
// everybody has left.
func summarize(ctx context.Context, n narrate.Narrator, people []person, results *results) error {
	count, sum := results.counts(people), map[status]decimal.Decimal{}
	for _, p := range people {
		state := results.status(p)
		sum[state] = sum[state].Add(p.amount)
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
		{started, "interrupted; start again: the key prevents a second payment"},
		{unknown, "a response was lost; start again: the key prevents a second payment"},
		{notPaid, "no money moved; correct the cause, then start again"},
		{failed, "did not arrive; decide whether to pay under another id"},
		{check, "read the message below, and first look for the payment in the ledger"},
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
		return fmt.Errorf("interrupted when %d of %d were paid; the same command pays the rest", left, len(people))
	}
	return fmt.Errorf("%d of %d are paid", left, len(people))
}
