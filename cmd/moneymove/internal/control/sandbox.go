package control

import (
	"context"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/app"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/plaintext"
	"github.com/moneymovement/moneymovement-go/internal/shell"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

// options are the flags of the sandbox command.
type options struct {
	addr       string
	email      string
	keyFile    string
	data       string
	apiKey     string
	apiKeyFile string
	control    bool
	instant    bool
	seed       bool
	rateLimits *bool // nil if the flag is not given
	hosts      []string
	verbose    bool
	quiet      bool
}

// SandboxCommand returns the command sandbox.
func SandboxCommand(a *app.App) *cobra.Command {
	command := newCommand(func(ctx context.Context, o options) error { return serve(ctx, a, o) })
	command.AddCommand(envCommand(a))
	return command
}

// newCommand returns the command with its flags. It calls run with valid flags.
func newCommand(run func(context.Context, options) error) *cobra.Command {
	var o options
	var rateLimits bool
	command := &cobra.Command{
		Use:   "sandbox",
		Short: "Serve a sandbox host of the service on this machine",
		Long: `Serves a sandbox host of the service until it is interrupted (Ctrl-C). Once the
host accepts requests, the command prints its address and where the keys are.
Then it writes a line for each request to standard error.

With -data, the host keeps its state in a folder, and goes on there at the next
start: the credentials, the clock, the settings that were changed, and all that
callers did. A crash loses nothing that the host has responded to. Flags win over
what is kept. Without -data, the host forgets everything when the command ends.
"moneymove reset" takes it back to its start.

With -seed, the host has a client that is ready: it is verified, holds USDC and
EURC, and has a virtual account, a contact with a bank account and a contact with
a wallet. The account of the app key holds money as well. With -data, this is
done once, and again at the start after a reset.

With -o json it prints one line of JSON for programs, with the app key and the
access token. Otherwise it prints no credential: "moneymove sandbox env" does.`,
		Example: `  moneymove sandbox -control -seed
  moneymove sandbox -control -data sandbox-data -v
  moneymove sandbox -o json -addr 127.0.0.1:0 -instant`,
		RunE: func(c *cobra.Command, _ []string) error {
			if c.Flags().Changed("rate-limits") {
				o.rateLimits = &rateLimits
			}
			if c.Flags().Changed("email") && strings.TrimSpace(o.email) == "" {
				return app.Usagef("-email is empty; leave it out to use ops@example.com")
			}
			if err := o.check(); err != nil {
				return err
			}
			return run(c.Context(), o)
		},
	}
	flags := command.Flags()
	flags.StringVar(&o.addr, "addr", "127.0.0.1:8080", "`address` to listen on; port 0 takes any free port")
	flags.StringVar(&o.apiKey, "api-key", "",
		"app `key`, 16 to 128 characters, for a test value of your choice (default: a new one, or the one in -data)")
	flags.StringVar(&o.apiKeyFile, "api-key-file", "", "`file` with the app key, or - for standard input")
	flags.BoolVar(&o.control, "control", false,
		"serve the host's controls (clock, faults, settings, ledger) under /_host, and a page for people at "+
			"/_console; needs a loopback address")
	flags.StringVar(&o.data, "data", "",
		"`folder` that keeps the state and the credentials; made with mode 0700 if there is none, "+
			"and refused if others can write to it")
	flags.StringVar(&o.email, "email", "",
		"`email` of the integrator's account (default: ops@example.com, or the one in -data)")
	flags.StringArrayVar(&o.hosts, "host", nil,
		"accept requests for this host `name` as well, such as a container's; repeat it for more names")
	flags.BoolVar(&o.instant, "instant", false,
		"make clients, rails, cards, verifications and payouts progress at once, not after 250 to 300 ms")
	flags.StringVar(&o.keyFile, "key-file", "", "developer key `file` (PKCS #8 PEM): read if it exists, otherwise "+
		"created with mode 0600 (default: a new file in -data, or in a temporary folder that is removed at the end)")
	flags.BoolVar(&o.seed, "seed", false,
		"prepare a client with money, contacts and a virtual account, and print their ids")
	flags.BoolVar(&rateLimits, "rate-limits", false, "count requests against the service's rate windows")
	flags.BoolVarP(&o.verbose, "verbose", "v", false,
		"add time, account, idempotency key, replay and fault to the line of each request")
	flags.BoolVarP(&o.quiet, "quiet", "q", false, "write no line for each request")
	return command
}

// check refuses flags that are invalid.
func (o options) check() error {
	if o.apiKey != "" && o.apiKeyFile != "" {
		return app.Usagef("-api-key and -api-key-file contradict each other: give one of them")
	}
	if _, _, err := net.SplitHostPort(o.addr); err != nil {
		port := o.addr
		if _, err := strconv.ParseUint(port, 10, 16); err != nil {
			port = "8080"
		}
		return app.Usagef("-addr is %.100q: give an address and a port, such as 127.0.0.1:%s", o.addr, port)
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

// announcement is what a caller needs to reach the host and to log in.
type announcement struct {
	BaseURL       string `json:"baseUrl"`
	Email         string `json:"email"`
	KeyFile       string `json:"keyFile"`
	APIKey        string `json:"apiKey,omitzero"`
	AccessToken   string `json:"accessToken,omitzero"` // of /api/v1
	WalletKeyFile string `json:"walletKeyFile"`        // of the wallet that cards spend from
	ControlURL    string `json:"controlUrl,omitzero"`
	ConsoleURL    string `json:"consoleUrl,omitzero"` // the page for people
	// DataFolder has the state and the credentials, with -data.
	DataFolder string  `json:"dataFolder,omitzero"`
	Seeded     *seeded `json:"seeded,omitzero"`

	rateLimits bool
}

func announcementOf(o options, address, keyFile, walletFile string, credentials sandbox.Credentials) announcement {
	a := announcement{
		BaseURL: "http://" + address, Email: credentials.Email, KeyFile: keyFile, WalletKeyFile: walletFile,
		APIKey: credentials.APIKey.Reveal(), AccessToken: credentials.AccessToken.Reveal(),
	}
	if o.control {
		a.ControlURL, a.ConsoleURL = a.BaseURL+"/_host", a.BaseURL+"/_console"
	}
	return a
}

// print says that the host accepts requests: with one line of JSON for programs, or a block of text for people. Only
// who asks for JSON gets the app key and the token. A pipe alone may well end in the log of a container.
func (a announcement) print(to *app.App, asJSON bool) error {
	if !to.AsksForJSON() {
		a.APIKey, a.AccessToken = "", ""
	}
	if asJSON {
		return to.PrintJSON(a)
	}
	_, err := io.WriteString(to.Out, a.readable())
	return err
}

func (a announcement) readable() string {
	var text strings.Builder
	line := func(name, value string) { fmt.Fprintf(&text, "  %-14s %s\n", name, plaintext.Line(value)) }
	text.WriteString("The sandbox host is ready.\n\n")
	line("address", a.BaseURL)
	if a.ControlURL != "" {
		line("controls", a.ControlURL)
		line("console", a.ConsoleURL)
	}
	line("email", a.Email)
	line("key file", a.KeyFile)
	line("wallet file", a.WalletKeyFile)
	line("rate limits", map[bool]string{true: "on", false: "off"}[a.rateLimits])
	if s := a.Seeded; s != nil {
		text.WriteString("\nPrepared by -seed:\n\n")
		line("client", string(s.Client)+" ("+s.Email+")")
		line("bank contact", string(s.BankContact))
		line("wallet contact", string(s.WalletContact))
		if s.VirtualAccount != "" {
			line("bank account", string(s.VirtualAccount))
		} else {
			line("bank account", "none: "+s.NoVirtualAccount)
		}
		line("app key", s.AppKeyID)
	}
	text.WriteString("\nLog in with the email and the key file. ")
	if a.ControlURL != "" {
		words := []string{"moneymove", "sandbox", "env"}
		if a.ControlURL != DefaultURL {
			words = append(words, "-control-url", a.ControlURL)
		}
		text.WriteString("Every credential is printed by\n\n  " + shell.Line(words...) + "\n\n")
	} else {
		text.WriteString("With -o json the app key and the access token are printed as well.\n")
	}
	text.WriteString("Press Ctrl-C to stop the host. ")
	if a.DataFolder == "" {
		text.WriteString("It keeps nothing.\n")
	} else {
		text.WriteString("Its state is in " + plaintext.Line(a.DataFolder) + ", and the next start goes on there.\n")
	}
	return text.String()
}
