// Command moneymove runs a sandbox host of the money-movement service on this machine, for tests in any language and
// for first steps. The host behaves as the service's description says, and keeps everything in memory.
//
//	go run github.com/moneymovement/moneymovement-go/cmd/moneymove@latest sandbox
//	moneymove sandbox -h
//
// It prints its address, and the file with the developer key to log in with. The flags, each with an example:
//
//	-addr 127.0.0.1:0              listen here; port 0 takes any free port. Default 127.0.0.1:8080
//	-control                       serve the host's controls under /_host: clock, faults, settings, ledger;
//	                               needs a loopback address. See "Controls over HTTP" in package sandbox
//	-email dev@example.com         email of the integrator's account. Default ops@example.com
//	-host sandbox.internal         accept requests for this host name as well; repeat it for more names
//	-instant                       make clients, rails, cards, verifications and payouts progress at once
//	-json                          print one line of JSON for programs, with the app key and the access token
//	-key-file developer.pem        read the developer key from this file, or create it. Default: a temporary file
//	-rate-limits=false             do not count requests against the service's rate windows
//
// With -json the line has the members baseUrl, email, keyFile, apiKey, accessToken, walletKeyFile and, with -control,
// controlUrl. The exit code is 0 after an interrupt (Ctrl-C, SIGTERM), 1 after a failure, and 2 for a wrong command
// line.
//
// The glossary of the service's words:
// https://github.com/moneymovement/moneymovement-go/blob/main/docs/glossary.md
package main

import (
	"context"
	"errors"
	"flag"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/app"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, app.System(), os.Args[1:])
	stop()
	os.Exit(code)
}

// run runs a command until it ends or ctx ends, and returns the exit code.
func run(ctx context.Context, a *app.App, args []string) int { return a.Run(ctx, root(a), args) }

// root returns the command with all its subcommands.
func root(a *app.App) *cobra.Command {
	command := &cobra.Command{
		Use:   "moneymove",
		Short: "Run a sandbox host of the money-movement service, and call any host of it",
	}
	command.AddCommand(sandboxCommand(a))
	return command
}

// sandboxCommand serves a sandbox host.
func sandboxCommand(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use:                "sandbox",
		Short:              "Serve a sandbox host of the service on this machine",
		Args:               cobra.ArbitraryArgs,
		DisableFlagParsing: true,
		RunE: func(c *cobra.Command, args []string) error {
			err := serveSandbox(c.Context(), args, a.Out, a.Err)
			if wrong, ok := errors.AsType[*usageError](err); ok {
				return app.Usagef("%w", wrong)
			}
			if errors.Is(err, flag.ErrHelp) {
				return nil
			}
			return err
		},
	}
}

// usageError says what is wrong with the command line.
type usageError struct{ message string }

func (e *usageError) Error() string { return e.message }
