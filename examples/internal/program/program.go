// Package program is the frame around each example: its flags, the host that it runs against, Ctrl-C, and what it tells.
package program

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/examples/internal/narrate"
	"github.com/moneymovement/moneymovement-go/examples/internal/target"
)

// Main runs an example until it ends, or until Ctrl-C ends its context. A second Ctrl-C ends the process.
func Main(run func(ctx context.Context, args []string, out io.Writer) error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	context.AfterFunc(ctx, stop)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// Program is an example that runs against a host.
type Program struct {
	*target.Target
	narrate.Narrator

	// Name is this run's, different each time: emails and idempotency keys derive from it.
	Name string
}

// Open reads the flags and opens the host that they name, or one of its own, for a program that has a developer key. Close the program in
// the end.
func Open(name string, args []string, out io.Writer, more ...func(*flag.FlagSet)) (*Program, error) {
	return OpenWith(name, args, out, []target.Need{target.DeveloperKey}, more...)
}

// OpenWith is [Open] for a program with other credentials, or none.
func OpenWith(name string, args []string, out io.Writer, needs []target.Need, more ...func(*flag.FlagSet)) (*Program, error) {
	flags := flag.NewFlagSet(name, flag.ContinueOnError)
	where := target.Register(flags)
	for _, register := range more {
		register(flags)
	}
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	host, err := where.Open(needs...)
	if err != nil {
		return nil, err
	}
	p := &Program{Target: host, Narrator: narrate.Narrator{Out: out}, Name: name + "-" + time.Now().UTC().Format("20060102-150405.000000")}
	if host.Embedded {
		p.Step("started a sandbox host at %s", host.BaseURL)
	} else {
		p.Step("using the sandbox host at %s", host.BaseURL)
	}
	return p, nil
}

// Developer is the credential that the host knows.
func (p *Program) Developer() dapi.Developer { return dapi.Developer{Email: p.Email, Key: p.Key} }
