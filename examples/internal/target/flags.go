package target

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"slices"
)

// Need is a credential that a program uses.
type Need string

// What a program can need, each named by the flags that give it.
const (
	DeveloperKey Need = "-email and -key"
	APIKey       Need = "-api-key"
	AccessToken  Need = "-access-token"
	CardWallet   Need = "-wallet-key"
)

// Flags are what a user can say on the command line, or in the environment.
type Flags struct {
	BaseURL, Email, KeyFile, APIKey, AccessToken, WalletFile string

	needs []Need
}

// setting is a flag with the environment variable that is read without it.
type setting struct {
	need                  Need // what it belongs to
	flag, variable, usage string
	into                  *string
}

// settings are those of the credentials that the program needs.
func (f *Flags) settings() []setting {
	const seen = "; who runs programs on this machine can read the flag, and not the variable"
	return slices.DeleteFunc([]setting{
		{DeveloperKey, "email", "MONEYMOVEMENT_EMAIL", "account `email` at that host", &f.Email},
		{DeveloperKey, "key", "MONEYMOVEMENT_KEY_FILE", "developer key `file` (PEM) of that account", &f.KeyFile},
		{APIKey, "api-key", "MONEYMOVEMENT_API_KEY", "app API `key`" + seen, &f.APIKey},
		{AccessToken, "access-token", "MONEYMOVEMENT_ACCESS_TOKEN", "`token` of the reference endpoints" + seen,
			&f.AccessToken},
		{CardWallet, "wallet-key", "MONEYMOVEMENT_WALLET_KEY_FILE",
			"key `file` (PEM) of the wallet that cards spend from", &f.WalletFile},
	}, func(s setting) bool { return !slices.Contains(f.needs, s.need) })
}

const baseURLVariable = "MONEYMOVEMENT_BASE_URL"

// Register adds the flag that names a host, and those that give the credentials that a program needs. Their defaults
// are empty, because -h prints defaults; [Flags.Complete] reads the environment.
func Register(flags *flag.FlagSet, needs ...Need) *Flags {
	f := &Flags{needs: needs}
	flags.StringVar(&f.BaseURL, "base-url", "",
		"`address` of a sandbox host; without one, the program starts its own on loopback ($"+baseURLVariable+")")
	for _, s := range f.settings() {
		flags.StringVar(s.into, s.flag, "", s.usage+" ($"+s.variable+")")
	}
	return f
}

// Complete takes from the environment what the command line left out. It refuses a host without the credentials that
// the program needs, and a credential on the command line without a host: it was not meant for one that the program
// starts.
func (f *Flags) Complete() error {
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
