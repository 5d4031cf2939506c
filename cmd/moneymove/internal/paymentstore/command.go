// Package paymentstore has the commands for a file in which a program keeps its payments with package payments/sqlite:
// they show the payments, and store what a person decides about one. They send nothing to the service: the program goes
// on when it next runs.
package paymentstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/app"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/payments"
	"github.com/moneymovement/moneymovement-go/payments/sqlite"
)

// Command returns the group of commands.
func Command(a *app.App) *cobra.Command {
	s := &file{app: a}
	command := &cobra.Command{
		Use:   "payments",
		Short: "The payments that a program keeps in a file, with package payments",
	}
	command.AddCommand(listCommand(s), getCommand(s), decideCommand(s), restoredCommand(s))
	return command
}

// file is the file with the payments.
type file struct {
	app  *app.App
	path string
}

// flag gives a command the flag of the file.
func (f *file) flag(command *cobra.Command) {
	command.Flags().StringVar(&f.path, "store", "",
		"`file` of package payments/sqlite, such as payments.db; no other process can have it open")
	_ = command.MarkFlagFilename("store")
}

// open opens the file, and calls do with a processor that only reads and decides.
func (f *file) open(ctx context.Context, do func(*payments.Processor) error) (err error) {
	switch {
	case f.path == "":
		return app.Usagef("-store is missing: name the file in which the program keeps its payments")
	case strings.Contains(f.path, "://"):
		return app.Usagef("-store must be a file of package payments/sqlite; this command does not read PostgreSQL: " +
			"decide there in a program of your own, with payments.New and Decide")
	}
	store, err := sqlite.Open(ctx, f.path, sqlite.MustExist())
	if err != nil {
		return f.explained(err)
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	processor, err := payments.New(store, payments.Services{}, payments.Config{})
	if err != nil {
		return err
	}
	return do(processor)
}

// explained says how to mend an error of opening.
func (f *file) explained(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return app.Usagef("-store: there is no file %s", f.path)
	}
	if busy, ok := errors.AsType[*sqlite.InUse](err); ok {
		holder := "a program"
		if busy.Process > 0 {
			holder = fmt.Sprintf("process %d", busy.Process)
		}
		return fmt.Errorf("%s has %s open, and one process has it at a time: stop it first, or let it show its "+
			"payments itself, with List and Decide of package payments", holder, f.path)
	}
	return err
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
	_, notPossible := errors.AsType[*payments.NotPossible](err)
	_, busy := errors.AsType[*payments.CallInProgress](err)
	if notPossible || busy {
		return &app.Failure{Code: app.ExitRefused, Err: err}
	}
	return err
}

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
	line("escrow", string(r.EscrowID))
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
