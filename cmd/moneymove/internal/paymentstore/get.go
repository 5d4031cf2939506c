package paymentstore

import (
	"errors"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/app"
	"github.com/moneymovement/moneymovement-go/payments"
)

func isUnreadable(err error) bool {
	_, unreadable := errors.AsType[*payments.Unreadable](err)
	return unreadable
}

func getCommand(f *file) *cobra.Command {
	command := &cobra.Command{
		Use:     "get KEY",
		Short:   "Show a payment, with what happened to it and what it waits for",
		Example: "  moneymove payments get invoice-42 -store payments.db",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			key, err := keyOf(args[0])
			if err != nil {
				return err
			}
			return f.open(c.Context(), func(p *payments.Processor) error {
				record, err := p.Get(c.Context(), key)
				if err != nil {
					return outcome(err)
				}
				return f.app.Print(record, func() app.Table { return details(record) })
			})
		},
	}
	f.flag(command)
	return command
}

// details shows a payment, line by line: its terms, its times in their order, and why it is where it is.
func details(r payments.Record) app.Table {
	var table app.Table
	line := func(name, value string) {
		if value != "" {
			table.Rows = append(table.Rows, []string{name, value})
		}
	}
	at := func(name string, t time.Time) {
		if !t.IsZero() {
			line(name, t.UTC().Format(time.RFC3339))
		}
	}
	amount, currency := terms(r)
	line("key", string(r.Key))
	line("state", string(r.State))
	line("kind", string(r.Kind))
	line("account", string(r.Account))
	line("waits for", r.WaitsFor)
	at("waits until", r.WaitsUntil)
	line("amount", amount)
	line("currency", currency)
	if r.Payout != nil {
		line("contact", string(r.Payout.ContactID))
	}
	if r.Transfer != nil {
		line("contact", r.Transfer.ContactID)
		line("quote", r.Transfer.QuoteID)
		line("invoice", r.Transfer.InvoiceID)
	}
	line("action", string(r.Action))
	line("payout", string(r.PayoutID))
	line("deal", string(r.EscrowID))
	line("transaction", r.TransactionHash)
	at("accepted", r.AcceptedAt)
	at("key first used", r.FirstUsed)
	line("calls", strconv.Itoa(r.Calls))
	if r.Refusals > 0 {
		line("refusals", strconv.Itoa(r.Refusals))
	}
	at("paid", r.PaidAt)
	at("changed", r.ChangedAt)
	at("goes on", r.Due)
	at("deadline", r.Deadline)
	if r.MayHaveLeft {
		line("money", "may have left")
	}
	reason(r.Reason, line)
	return table
}

func reason(r *payments.Reason, line func(name, value string)) {
	if r == nil {
		return
	}
	line("why", string(r.Code))
	line("message", r.Message)
	line("slug", string(r.Slug))
	line("request", r.RequestID)
	line("bound", string(r.Bound))
	if r.Quote != nil {
		line("refused price", r.Quote.SourceAmount.String()+" "+r.Quote.SourceCurrency+" for "+
			r.Quote.DestinationAmount.String()+" "+r.Quote.DestinationCurrency+", fee "+r.Quote.Fee.String())
	}
	for _, blocker := range r.Blockers {
		line("blocker", blocker.Message)
	}
	if r.Available != nil {
		line("available", r.Available.String()+" "+r.Currency)
	}
	line("owner of the key", r.Owner)
}
