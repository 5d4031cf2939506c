// Package paymentstore has the commands for a file in which a program keeps its payments with package payments/sqlite:
// they show the payments, and store what a person decides about one. They send nothing to the service: the program goes
// on when it next runs.
package paymentstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/app"
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
	command.AddCommand(listCommand(s), getCommand(s), decideCommand(s))
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
