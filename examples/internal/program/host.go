package program

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/moneymovement/moneymovement-go/appapi"
	"github.com/moneymovement/moneymovement-go/refapi"
	"github.com/moneymovement/moneymovement-go/sandbox"
	"github.com/moneymovement/moneymovement-go/signing"
	"github.com/moneymovement/moneymovement-go/signing/wallet"
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

// Target is a host and the credentials for it. For a host that flags name, it has the credentials that the program
// needs.
type Target struct {
	BaseURL     string
	Email       string
	Key         *signing.DeveloperKey
	KeyFile     string
	APIKey      appapi.APIKey
	AccessToken refapi.AccessToken
	CardWallet  *wallet.Key
	// Host is the sandbox host that the program started. It is nil if flags name another host.
	Host *sandbox.Host

	close func()
}

// Close ends the host that the program started.
func (t *Target) Close() { t.close() }

// open opens the host that the flags name, with the credentials that the program needs. If they name none, it starts a
// sandbox host on loopback with these options, which has every credential, and registers a new developer key there.
func (f *hostFlags) open(options ...sandbox.Option) (*Target, error) {
	if f.BaseURL == "" {
		return embedded(options)
	}
	t := &Target{BaseURL: f.BaseURL, close: func() {}}
	for _, need := range f.needs {
		if err := f.give(t, need); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// give puts a credential into the target.
func (f *hostFlags) give(t *Target, need Need) (err error) {
	switch need {
	case DeveloperKey:
		t.Email, t.KeyFile = f.Email, f.KeyFile
		t.Key, err = signing.LoadDeveloperKey(f.KeyFile)
	case APIKey:
		t.APIKey = appapi.NewAPIKey(f.APIKey)
	case AccessToken:
		t.AccessToken = refapi.NewAccessToken(f.AccessToken)
	case CardWallet:
		t.CardWallet, err = wallet.LoadKey(f.WalletFile)
	}
	return err
}

// Environment points another process at the same host: environment variables with the address and the developer key.
func (t *Target) Environment() []string {
	return []string{baseURLVariable + "=" + t.BaseURL, emailVariable + "=" + t.Email, keyFileVariable + "=" + t.KeyFile}
}

// embedded starts a host. It makes a key, saves it in a file as a real integrator does, and registers its public half.
func embedded(options []sandbox.Option) (t *Target, err error) {
	folder, err := os.MkdirTemp("", "moneymovement-")
	if err != nil {
		return nil, err
	}
	quick := sandbox.WithSettings(func(s *sandbox.Settings) {
		step := sandbox.Duration(50 * time.Millisecond)
		s.ClientReadyAfter, s.PayoutStepAfter, s.KYBDecisionAfter, s.RailActiveAfter = step, step, step, step
		s.CardActiveAfter = step
	})
	t = &Target{Host: sandbox.New(append([]sandbox.Option{quick}, options...)...), Email: "ops@example.com",
		KeyFile: filepath.Join(folder, "developer.pem"),
		close:   func() { _ = os.RemoveAll(folder) }}
	defer func() {
		if err != nil {
			t.Close()
		}
	}()
	if t.Key, err = signing.Generate(); err != nil {
		return nil, err
	}
	if err = t.Key.Save(t.KeyFile); err != nil {
		return nil, err
	}
	host := t.Host
	if _, err = host.RegisterKey(sandbox.KeyRegistration{Email: t.Email, PublicKey: t.Key.PublicKey()}); err != nil {
		return nil, fmt.Errorf("register the key: %w", err)
	}
	credentials := host.Credentials()
	t.APIKey = appapi.NewAPIKey(credentials.APIKey.Reveal())
	t.AccessToken = refapi.NewAccessToken(credentials.AccessToken.Reveal())
	t.CardWallet = credentials.Wallet
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	server := &http.Server{Handler: host, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = server.Serve(listener) }()
	t.BaseURL = "http://" + listener.Addr().String()
	t.close = func() {
		_ = server.Close()
		_ = os.RemoveAll(folder)
	}
	return t, nil
}

// againVariable is set in the environment of a process that [Program.Again] starts.
const againVariable = "MONEYMOVEMENT_EXAMPLE_STARTED_AGAIN"

// Again returns a command that runs this program again, in another process and against the same host.
func (p *Program) Again(ctx context.Context, args ...string) (*exec.Cmd, error) {
	path, err := os.Executable()
	if err != nil {
		return nil, err
	}
	command := exec.CommandContext(ctx, path, args...) //gosec:disable G204 -- it is this very program
	command.Env = append(append(os.Environ(), p.Environment()...), againVariable+"=1")
	command.Stderr = os.Stderr
	return command, nil
}

// StartedAgain reports whether [Program.Again] started this process. The TestMain of a program that starts itself calls
// main then, because the program that runs is the test.
func StartedAgain() bool { return os.Getenv(againVariable) != "" }
