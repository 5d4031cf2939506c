// Package paymentstore has the commands for the store in which a program keeps its payments: PostgreSQL, or a file of
// package payments/sqlite. They show the payments, store what a person decides about one, and compare them with the
// ledger. Over PostgreSQL they do so while programs pay, since each changes a payment under its lease.
package paymentstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/app"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/internal/paymentview"
	"github.com/moneymovement/moneymovement-go/payments"
)

// Command returns the group of commands.
func Command(a *app.App) *cobra.Command {
	s := &store{app: a}
	command := &cobra.Command{
		Use:   "payments",
		Short: "The payments that a program keeps with package payments, in PostgreSQL or in a file",
	}
	command.AddCommand(listCommand(s), getCommand(s), decideCommand(s), watchCommand(s), reconcileCommand(s),
		restoredCommand(s))
	return command
}

// keyOf returns the key of a payment that a person gave.
func keyOf(arg string) (moneymovement.Key, error) {
	if arg == "" {
		return "", app.Usagef("the key is empty; `moneymove payments list` lists them")
	}
	return moneymovement.Key(arg), nil
}

// outcome gives an error of a payment its exit code.
func outcome(err error) error {
	if _, missing := errors.AsType[*payments.NotFound](err); missing {
		return app.Usagef("%w; `moneymove payments list` lists them", err)
	}
	if _, wrong := errors.AsType[*payments.BadPosition](err); wrong {
		return app.Usagef("-after: %w", err)
	}
	if isInProgress(err) {
		return &app.Failure{Code: app.ExitRefused, Err: fmt.Errorf("nothing was decided, and -timeout 1m waits for "+
			"the end of the call: %w", err)}
	}
	if _, notPossible := errors.AsType[*payments.NotPossible](err); notPossible {
		return &app.Failure{Code: app.ExitRefused, Err: err}
	}
	return err
}

func listCommand(s *store) *cobra.Command {
	var states []string
	var account string
	var own bool
	command := &cobra.Command{
		Use:   "list",
		Short: "List the payments of a store, in the order of their keys",
		Example: `  moneymove payments list -store payments.db
  moneymove payments list -store postgres://ops@db.internal/shop -state needs_decision,in_doubt`,
	}
	s.flags(command)
	flags := command.Flags()
	stateFlag(command, &states)
	flags.StringVar(&account, "account", "", "only payments of this client, an `id` such as cl_...")
	flags.BoolVar(&own, "self", false, "only payments of the credential's own account")
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
		var err error
		if params.States, err = statesOf(states); err != nil {
			return err
		}
		return s.open(c.Context(), func(p *payments.Processor) error {
			records, unreadable, err := listed(c.Context(), s.app, p, params)
			if err != nil {
				return err
			}
			err = s.app.Print(map[string]any{"items": records}, func() app.Table { return tableOf(records) })
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

// stateFlag gives a command the flag of the states to show.
func stateFlag(command *cobra.Command, states *[]string) {
	command.Flags().StringSliceVar(states, "state", nil, "only payments in this `state`; repeat it for more")
	_ = command.RegisterFlagCompletionFunc("state",
		cobra.FixedCompletions(stateNames(), cobra.ShellCompDirectiveNoFileComp))
}

func statesOf(names []string) (states []moneymovement.PaymentState, err error) {
	for _, name := range names {
		state := moneymovement.PaymentState(name)
		if !slices.Contains(moneymovement.StoredPaymentStates(), state) {
			return nil, app.Usagef("-state is %q; give one of %s", name, strings.Join(stateNames(), ", "))
		}
		states = append(states, state)
	}
	return states, nil
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
		amount, currency := paymentview.Terms(r)
		why := ""
		if r.Reason != nil {
			why = string(r.Reason.Code)
		}
		table.Rows = append(table.Rows, []string{string(r.Key), string(r.State), string(r.Kind), string(r.Account),
			amount, currency, r.ChangedAt.UTC().Format(time.RFC3339), why})
	}
	return table
}

func isInProgress(err error) bool {
	_, inProgress := errors.AsType[*payments.CallInProgress](err)
	return inProgress
}

func isUnreadable(err error) bool {
	_, unreadable := errors.AsType[*payments.Unreadable](err)
	return unreadable
}

func getCommand(s *store) *cobra.Command {
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
			return s.open(c.Context(), func(p *payments.Processor) error {
				record, err := p.Get(c.Context(), key)
				if err != nil {
					return outcome(err)
				}
				return s.app.Print(record, func() app.Table { return details(record) })
			})
		},
	}
	s.flags(command)
	return command
}

// details shows a payment, line by line.
func details(r payments.Record) app.Table {
	var table app.Table
	for _, section := range paymentview.Sections(r) {
		for _, line := range section.Lines {
			table.Rows = append(table.Rows, []string{line.Name, line.Value})
		}
	}
	return table
}
