package main

import (
	"context"
	"fmt"
	"text/tabwriter"

	"github.com/shopspring/decimal"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/examples/internal/narrate"
	"github.com/moneymovement/moneymovement-go/payments"
)

// unsent is the state of a person who has no payment yet.
const unsent moneymovement.PaymentState = "unsent"

func stateOf(known map[string]payments.Record, p person) moneymovement.PaymentState {
	if record, found := known[p.id]; found {
		return record.State
	}
	return unsent
}

// summarize prints how many people have each state, and what to do about them. The error is nil if the money of
// everybody has left.
func summarize(
	ctx context.Context, n narrate.Narrator, people []person, known map[string]payments.Record,
	problems map[string]string,
) error {
	count, sum := map[moneymovement.PaymentState]int{}, map[moneymovement.PaymentState]decimal.Decimal{}
	for _, p := range people {
		state := stateOf(known, p)
		count[state]++
		sum[state] = sum[state].Add(p.amount)
	}
	n.Step("summary:")
	table := tabwriter.NewWriter(n.Out, 0, 0, 2, ' ', 0)
	for _, line := range []struct {
		state moneymovement.PaymentState
		means string
	}{
		{moneymovement.PaymentCompleted, "arrived"},
		{moneymovement.PaymentPaid, "on the way; start again to see it arrive"},
		{unsent, "not begun; start again"},
		{moneymovement.PaymentAccepted, "not begun; start again"},
		{moneymovement.PaymentPaying, "interrupted; start again: the key prevents a second payment"},
		{moneymovement.PaymentInDoubt, "a response was lost; start again: the key prevents a second payment"},
		{moneymovement.PaymentNeedsDecision, "read the message below; correct the cause, then start again"},
		{moneymovement.PaymentRefused, "no money moved; correct the cause, and pay under another id"},
		{moneymovement.PaymentCameBack, "did not arrive; decide whether to pay under another id"},
	} {
		if count[line.state] > 0 {
			fmt.Fprintf(table, "    %s\t%d\t%s USDC\t%s\n", line.state, count[line.state],
				sum[line.state].StringFixed(2), line.means)
		}
	}
	if err := table.Flush(); err != nil {
		return err
	}
	for _, p := range people {
		if reason := known[p.id].Reason; reason != nil {
			n.Detail("%s: %s", p.id, reason.Message)
		} else if problems[p.id] != "" {
			n.Detail("%s: %s", p.id, problems[p.id])
		}
	}
	left := count[moneymovement.PaymentCompleted] + count[moneymovement.PaymentPaid]
	switch {
	case left == len(people):
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("interrupted when %d of %d were paid; the same command pays the rest", left, len(people))
	}
	return fmt.Errorf("%d of %d are paid", left, len(people))
}
