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
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

const usage = `Usage: moneymove <command> [flags]

Commands:
  sandbox   serve a sandbox host of the service on this machine

Run "moneymove <command> -h" for the flags of a command.
`

// The exit codes.
const (
	exitFine  = 0
	exitFault = 1
	exitUsage = 2
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run runs a command until it ends or ctx ends, and returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	if len(args) == 0 {
		_, _ = io.WriteString(stderr, usage)
		return exitUsage
	}
	var err error
	switch command := args[0]; command {
	case "sandbox":
		err = serveSandbox(ctx, args[1:], stdout, stderr)
	case "help", "-h", "-help", "--help":
		_, _ = io.WriteString(stdout, usage)
	default:
		_, _ = fmt.Fprintf(stderr, "moneymove: unknown command %q\n\n%s", command, usage)
		return exitUsage
	}
	var wrong *usageError
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return exitFine
	case errors.As(err, &wrong):
		_, _ = fmt.Fprintf(stderr, "moneymove: %v\n", err)
		return exitUsage
	default:
		_, _ = fmt.Fprintf(stderr, "moneymove: %v\n", err)
		return exitFault
	}
}

// usageError says what is wrong with the command line.
type usageError struct{ message string }

func (e *usageError) Error() string { return e.message }
