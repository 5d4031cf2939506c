// Command moneymove runs a sandbox host of the money-movement service on this
// machine:
//
//	moneymove sandbox [-addr 127.0.0.1:8080] [-json] [-key-file developer.pem] [-control] [-host name]
//
// Run it with -h for every flag.
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
  sandbox   serve a sandbox host of the service

Run "moneymove <command> -h" for its flags.
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

// run runs a command until it ends or ctx does.
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
		_, _ = fmt.Fprintf(stderr, "moneymove: there is no command %q\n\n%s", command, usage)
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

// usageError says that the command line makes no sense.
type usageError struct{ message string }

func (e *usageError) Error() string { return e.message }
