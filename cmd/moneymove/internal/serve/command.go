// Package serve is the command sandbox: a sandbox host of the service on a port of this machine.
package serve

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/app"
)

// options are the flags of the sandbox command.
type options struct {
	addr       string
	email      string
	keyFile    string
	control    bool
	instant    bool
	rateLimits bool
	hosts      []string
	verbose    bool
	quiet      bool
}

// Command returns the command sandbox.
func Command(a *app.App) *cobra.Command {
	return newCommand(func(ctx context.Context, o options) error { return serve(ctx, a, o) })
}

// newCommand returns the command with its flags. It calls run with valid flags.
func newCommand(run func(context.Context, options) error) *cobra.Command {
	var o options
	command := &cobra.Command{
		Use:   "sandbox",
		Short: "Serve a sandbox host of the service on this machine",
		Long: `Serves a sandbox host of the service until it is interrupted (Ctrl-C). The host
keeps everything in memory, and forgets it when the command ends. Once the host
accepts requests, the command prints its address and where the keys are. Then it
writes a line for each request to standard error.

With -o json it prints one line of JSON for programs, with the app key and the
access token. Otherwise it prints no credential.`,
		Example: `  moneymove sandbox -control
  moneymove sandbox -o json -addr 127.0.0.1:0 -instant`,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := o.check(); err != nil {
				return err
			}
			return run(c.Context(), o)
		},
	}
	flags := command.Flags()
	flags.StringVar(&o.addr, "addr", "127.0.0.1:8080", "`address` to listen on; port 0 takes any free port")
	flags.BoolVar(&o.control, "control", false,
		"serve the host's controls (clock, faults, settings, ledger) under /_host; needs a loopback address")
	flags.StringVar(&o.email, "email", "ops@example.com", "`email` of the integrator's account")
	flags.StringArrayVar(&o.hosts, "host", nil,
		"accept requests for this host `name` as well, such as a container's; repeat it for more names")
	flags.BoolVar(&o.instant, "instant", false,
		"make clients, rails, cards, verifications and payouts progress at once, not after 250 to 300 ms")
	flags.StringVar(&o.keyFile, "key-file", "", "developer key `file` (PKCS #8 PEM): read if it exists, otherwise "+
		"created with mode 0600 (default: a new file in a temporary folder, removed at the end)")
	flags.BoolVar(&o.rateLimits, "rate-limits", false, "count requests against the service's rate windows")
	flags.BoolVarP(&o.verbose, "verbose", "v", false,
		"add time, account, idempotency key, replay and fault to the line of each request")
	flags.BoolVarP(&o.quiet, "quiet", "q", false, "write no line for each request")
	return command
}

// check refuses flags that are invalid.
func (o options) check() error {
	if strings.TrimSpace(o.email) == "" {
		return app.Usagef("-email is empty; leave it out to use ops@example.com")
	}
	for _, name := range o.hosts {
		if strings.Trim(name, ".") == "" || strings.ContainsAny(name, "/ ") {
			return app.Usagef("-host %q is not a host name; give a name such as sandbox.internal", name)
		}
	}
	if o.verbose && o.quiet {
		return app.Usagef("-v and -q contradict each other: give one of them")
	}
	return nil
}
