// Command paymentsfile checks and copies a file of payments that package sqlite keeps.
//
//	paymentsfile check payments.db
//	paymentsfile backup payments.db copy.db
//
// check reads all of the file, and prints how many payments are in each state. If anything is wrong, it prints what was
// found and how to go on. backup writes a copy. Neither makes a file that is missing, and both need a file that no
// process has open. A program that runs calls Store.Check and Store.Backup itself.
//
// The exit status is 0 if all is well, 1 if not, and 2 if the arguments are wrong.
package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"slices"

	"github.com/moneymovement/moneymovement-go/payments/sqlite"
)

const usage = `usage:
  paymentsfile check FILE        read all of a file of payments
  paymentsfile backup FILE COPY  write a copy of it
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	status := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(status)
}

// run runs the command, and returns its exit status.
func run(ctx context.Context, args []string, out, problems io.Writer) int {
	var err error
	switch {
	case len(args) == 2 && args[0] == "check":
		err = check(ctx, args[1], out)
	case len(args) == 3 && args[0] == "backup":
		err = backup(ctx, args[1], args[2], out)
	default:
		fmt.Fprint(problems, usage)
		return 2
	}
	if err != nil {
		fmt.Fprintln(problems, "paymentsfile:", err)
		return 1
	}
	return 0
}

func check(ctx context.Context, path string, out io.Writer) error {
	return withStore(ctx, path, func(store *sqlite.Store) error {
		checked, err := store.Check(ctx)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%s is whole: %d payments\n", path, checked.Payments)
		for _, state := range slices.Sorted(maps.Keys(checked.ByState)) {
			fmt.Fprintf(out, "  %s: %d\n", state, checked.ByState[state])
		}
		return nil
	})
}

func backup(ctx context.Context, path, to string, out io.Writer) error {
	return withStore(ctx, path, func(store *sqlite.Store) error {
		if err := store.Backup(ctx, to); err != nil {
			return err
		}
		fmt.Fprintf(out, "copied %s to %s\n", path, to)
		return nil
	})
}

func withStore(ctx context.Context, path string, do func(*sqlite.Store) error) error {
	store, err := sqlite.Open(ctx, path, sqlite.MustExist())
	if err != nil {
		return err
	}
	if err := do(store); err != nil {
		_ = store.Close() // the first error says what is wrong
		return err
	}
	return store.Close()
}
