package program

import (
	"bytes"
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/moneymovement/moneymovement-go/sandbox"
)

// CommandLine describes an example: the flags that it takes, and the host that it starts.
type CommandLine struct {
	Name  string
	Needs []Need                // the credentials that it needs
	Flags []func(*flag.FlagSet) // its other flags
	Host  []sandbox.Option      // the options of the host that it starts
}

// Help is the text that -h prints.
type Help struct{ Text string }

func (h *Help) Error() string { return h.Text }

// WrongCommandLine is the error of a command line that cannot be used.
type WrongCommandLine struct{ Problem string }

func (w *WrongCommandLine) Error() string { return w.Problem + "; -h lists the flags" }

func (line CommandLine) parse(args []string) (*hostFlags, error) {
	flags := flag.NewFlagSet(line.Name, flag.ContinueOnError)
	flags.SetOutput(io.Discard) // the error is printed once, by report
	where := register(flags, line.Needs...)
	for _, add := range line.Flags {
		add(flags)
	}
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		var text bytes.Buffer
		flags.SetOutput(&text)
		flags.Usage()
		return nil, &Help{text.String()}
	case err != nil:
		return nil, &WrongCommandLine{err.Error()}
	case flags.NArg() > 0:
		return nil, &WrongCommandLine{fmt.Sprintf("unexpected argument %q", flags.Arg(0))}
	}
	if err := where.complete(); err != nil {
		return nil, &WrongCommandLine{err.Error()}
	}
	return where, nil
}

// Need is a credential that a program needs.
type Need string

// The credentials. Each is named after the flags that set it.
const (
	DeveloperKey Need = "-email and -key"
	APIKey       Need = "-api-key"
	AccessToken  Need = "-access-token"
	CardWallet   Need = "-wallet-key"
)

// hostFlags are the values of the flags, or of the environment variables.
type hostFlags struct {
	BaseURL, Email, KeyFile, APIKey, AccessToken, WalletFile string

	needs []Need
}

// setting is a flag, and the environment variable that is read if the flag is not set.
type setting struct {
	need                  Need // the credential that it is part of
	flag, variable, usage string
	into                  *string
}

// settings returns the settings of the credentials that the program needs.
func (f *hostFlags) settings() []setting {
	const seen = "; other users of this machine can see a flag, but not a variable"
	return slices.DeleteFunc([]setting{
		{DeveloperKey, "email", emailVariable, "account `email` at that host", &f.Email},
		{DeveloperKey, "key", keyFileVariable, "developer key `file` (PEM) of that account", &f.KeyFile},
		{APIKey, "api-key", "MONEYMOVEMENT_API_KEY", "app API `key`" + seen, &f.APIKey},
		{AccessToken, "access-token", "MONEYMOVEMENT_ACCESS_TOKEN", "`token` of the reference endpoints" + seen,
			&f.AccessToken},
		{CardWallet, "wallet-key", "MONEYMOVEMENT_WALLET_KEY_FILE",
			"key `file` (PEM) of the wallet that cards spend from", &f.WalletFile},
	}, func(s setting) bool { return !slices.Contains(f.needs, s.need) })
}

const (
	baseURLVariable = "MONEYMOVEMENT_BASE_URL"
	emailVariable   = "MONEYMOVEMENT_EMAIL"
	keyFileVariable = "MONEYMOVEMENT_KEY_FILE"
)

// register adds the flag that names a host, and the flags of the credentials that a program needs. Their defaults are
// empty, because -h prints defaults. [hostFlags.complete] reads the environment.
func register(flags *flag.FlagSet, needs ...Need) *hostFlags {
	f := &hostFlags{needs: needs}
	flags.StringVar(&f.BaseURL, "base-url", "",
		"`address` of a sandbox host; if empty, the program starts its own on loopback ($"+baseURLVariable+")")
	for _, s := range f.settings() {
		flags.StringVar(s.into, s.flag, "", s.usage+" ($"+s.variable+")")
	}
	return f
}

// complete reads the environment for each flag that is not set. It returns an error if a host is named and a credential
// that the program needs is missing. It also returns an error if the command line has a credential and no host is
// named: the credential is meant for another host than the one that the program starts.
func (f *hostFlags) complete() error {
	f.BaseURL = cmp.Or(f.BaseURL, os.Getenv(baseURLVariable))
	for _, s := range f.settings() {
		if f.BaseURL == "" {
			if *s.into != "" {
				return fmt.Errorf("-%s needs -base-url as well", s.flag)
			}
			continue
		}
		if *s.into = cmp.Or(*s.into, os.Getenv(s.variable)); *s.into == "" {
			return fmt.Errorf("-base-url needs %s as well", s.need)
		}
	}
	return nil
}
