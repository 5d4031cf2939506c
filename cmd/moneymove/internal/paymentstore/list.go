package paymentstore

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/app"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/payments"
)

func listCommand(f *file) *cobra.Command {
	var states []string
	var account string
	var own bool
	command := &cobra.Command{
		Use:   "list",
		Short: "List the payments in a file, in the order of their keys",
		Example: `  moneymove payments list -store payments.db
  moneymove payments list -store payments.db -state needs_decision,in_doubt`,
	}
	f.flag(command)
	flags := command.Flags()
	flags.StringSliceVar(&states, "state", nil, "only payments in this `state`; repeat it for more")
	flags.StringVar(&account, "account", "", "only payments of this client, an `id` such as cl_...")
	flags.BoolVar(&own, "self", false, "only payments of the credential's own account")
	_ = command.RegisterFlagCompletionFunc("state",
		cobra.FixedCompletions(stateNames(), cobra.ShellCompDirectiveNoFileComp))
	command.RunE = func(c *cobra.Command, _ []string) error {
		if account != "" && own {
			return app.Usagef("-account and -self contradict each other: give one of them")
		}
		params := payments.ListParams{}
		client := dapi.ClientID(account)
		if own {
			client = payments.OwnAccount
		}
		if client != "" {
			params.Account = &client
		}
		for _, name := range states {
			state := moneymovement.PaymentState(name)
			if !state.Known() {
				return app.Usagef("-state is %q; give one of %s", name, strings.Join(stateNames(), ", "))
			}
			params.States = append(params.States, state)
		}
		return f.open(c.Context(), func(p *payments.Processor) error {
			records, unreadable, err := listed(c.Context(), f.app, p, params)
			if err != nil {
				return err
			}
			err = f.app.Print(map[string]any{"items": records}, func() app.Table { return tableOf(records) })
			if err == nil && unreadable > 0 {
				err = fmt.Errorf("%d payments cannot be read", unreadable)
			}
			return err
		})
	}
	return command
}

// listed reads the payments. It says which ones cannot be read, and goes on.
func listed(
	ctx context.Context, a *app.App, p *payments.Processor, params payments.ListParams,
) (records []payments.Record, unreadable int, err error) {
	records = []payments.Record{}
	for record, err := range p.List(ctx, params) {
		if isUnreadable(err) {
			unreadable++
			a.Say("moneymove: %v", err)
			continue
		}
		if err != nil {
			return nil, 0, err
		}
		records = append(records, record)
	}
	return records, unreadable, nil
}

func stateNames() []string {
	var names []string
	for _, state := range moneymovement.StoredPaymentStates() {
		names = append(names, string(state))
	}
	return names
}

func tableOf(records []payments.Record) app.Table {
	table := app.Table{
		Head:  []string{"KEY", "STATE", "KIND", "ACCOUNT", "AMOUNT", "CURRENCY", "CHANGED", "WHY"},
		Right: []int{4},
	}
	for _, r := range records {
		amount, currency := terms(r)
		why := ""
		if r.Reason != nil {
			why = string(r.Reason.Code)
		}
		table.Rows = append(table.Rows, []string{string(r.Key), string(r.State), string(r.Kind), string(r.Account),
			amount, currency, r.ChangedAt.UTC().Format(time.RFC3339), why})
	}
	return table
}

// terms returns the amount and the currency that were asked for. A transfer names no currency, and its quote or invoice
// may have the amount.
func terms(r payments.Record) (amount, currency string) {
	switch {
	case r.Payout != nil:
		return r.Payout.Amount.String(), string(r.Payout.Currency)
	case r.Escrow != nil:
		return r.Escrow.Amount.String(), string(r.Escrow.Currency)
	case r.Transfer != nil && r.Transfer.ContactID != "":
		return r.Transfer.Amount.String(), ""
	}
	return "", ""
}
