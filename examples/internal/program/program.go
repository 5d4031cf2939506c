// Package program is the frame around each example: its command line, its host, Ctrl-C, and what it prints.
package program

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"text/tabwriter"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
)

// Main runs an example. Ctrl-C or SIGTERM ends its context; a second signal ends the process.
func Main(run func(ctx context.Context, args []string, out io.Writer) error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	os.Exit(report(os.Stderr, filepath.Base(os.Args[0]), err))
}

// report prints the error and returns the exit code.
func report(stderr io.Writer, name string, err error) int {
	var help *Help
	switch {
	case err == nil:
		return 0
	case errors.As(err, &help):
		fmt.Fprint(stderr, help.Text)
		return 0
	}
	fmt.Fprintf(stderr, "%s: %v\n", name, err)
	var wrong *WrongCommandLine
	if errors.As(err, &wrong) {
		return 2
	}
	return 1
}

// Program is an example that runs against a host.
type Program struct {
	*Target

	Out io.Writer // what the program prints
	// Name is different at each start. Emails and idempotency keys derive from it.
	Name string
}

// Open reads the flags of a program that needs a developer key. It opens the host that they name, or starts one. Close
// the program at the end.
func Open(name string, args []string, out io.Writer, flags ...func(*flag.FlagSet)) (*Program, error) {
	return OpenWith(CommandLine{Name: name, Needs: []Need{DeveloperKey}, Flags: flags}, args, out)
}

// OpenWith is [Open] for a program with another command line.
func OpenWith(line CommandLine, args []string, out io.Writer) (*Program, error) {
	where, err := line.parse(args)
	if err != nil {
		return nil, err
	}
	host, err := where.open(line.Host...)
	if err != nil {
		return nil, err
	}
	p := &Program{Target: host, Out: out,
		Name: line.Name + "-" + time.Now().UTC().Format("20060102-150405.000000")}
	if host.Host != nil {
		p.Step("started a sandbox host at %s", host.BaseURL)
	} else {
		p.Step("using the sandbox host at %s", host.BaseURL)
	}
	return p, nil
}

// Developer returns the credential of the platform API.
func (p *Program) Developer() dapi.Developer { return dapi.Developer{Email: p.Email, Key: p.Key} }

// Options returns the options of each client in the examples: their waits read often, because somebody watches. A
// backend keeps the default pauses.
func (p *Program) Options() []moneymovement.Option {
	return []moneymovement.Option{moneymovement.WithPolling(25*time.Millisecond, 5*time.Second)}
}

// Skip moves the clock of the host that the program started by d, so that nobody has to wait. It does nothing on
// another host, whose clock nobody can move.
func (p *Program) Skip(d time.Duration) {
	if p.Host != nil {
		p.Host.Advance(d)
		p.Detail("moved the clock of this program's own host by %s instead of waiting", d)
	}
}

// Step prints what happened.
func (p *Program) Step(format string, args ...any) { fmt.Fprintf(p.Out, "• "+format+"\n", args...) }

// Detail prints more about the step before.
func (p *Program) Detail(format string, args ...any) {
	fmt.Fprintf(p.Out, "    "+format+"\n", args...)
}

// Waiting returns options that make a wait print what it reads.
func (p *Program) Waiting() []moneymovement.WaitOption {
	return []moneymovement.WaitOption{
		moneymovement.OnProgress(func(read moneymovement.Progress) {
			p.Detail("read %d after %s: %s is %s", read.Reads, read.Waited.Round(10*time.Millisecond), read.Resource,
				read.Status)
		}),
	}
}

// Quote prints a price.
func (p *Program) Quote(q *dapi.Quote) {
	if q != nil {
		p.Detail("quote: %s %s leave, %s %s arrive, fee %s %s, good until %s", q.SourceAmount, q.SourceCurrency,
			q.DestinationAmount, q.DestinationCurrency, q.Fee, q.SourceCurrency,
			q.ExpiresAt.UTC().Format(time.TimeOnly))
	}
}

// Requisites prints where a payer sends the money, one detail on each line.
func (p *Program) Requisites(r dapi.Requisites) error {
	table := tabwriter.NewWriter(p.Out, 0, 0, 2, ' ', 0)
	for _, line := range []struct{ name, value string }{
		{"Account holder", r.AccountHolderName},
		{"IBAN", r.IBAN},
		{"BIC", r.BIC},
		{"Account number", r.AccountNumber},
		{"Routing number", r.RoutingNumber},
		{"Payment key", r.PaymentKey},
		{"Bank", r.BankName},
		{"Bank address", r.BankAddress},
		{"Wallet address", r.WalletAddress},
		{"Reference", r.Reference},
	} {
		if line.value != "" {
			fmt.Fprintf(table, "    %s\t%s\n", line.name, line.value)
		}
	}
	return table.Flush()
}

// Ledger prints the whole ledger of an account as a table, in the order in which the service lists it.
func (p *Program) Ledger(ctx context.Context, transactions *dapi.Transactions) error {
	p.Step("the ledger, newest first:")
	table := tabwriter.NewWriter(p.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "    TYPE\tDIRECTION\t  AMOUNT\tCURRENCY\tSTATUS")
	for entry, err := range transactions.All(ctx, dapi.ListTransactionsParams{}) {
		if err != nil {
			return err
		}
		fmt.Fprintf(table, "    %s\t%s\t%8s\t%s\t%s\n", entry.Type, entry.Direction, entry.Amount.StringFixed(2),
			entry.Currency, entry.Status)
	}
	return table.Flush()
}
