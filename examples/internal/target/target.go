// Package target finds what an example program runs against: a real sandbox host that flags or the environment name, or else a sandbox
// host of its own on loopback.
package target

import (
	"cmp"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/moneymovement/moneymovement-go/appapi"
	"github.com/moneymovement/moneymovement-go/refapi"
	"github.com/moneymovement/moneymovement-go/sandbox"
	"github.com/moneymovement/moneymovement-go/signing"
	"github.com/moneymovement/moneymovement-go/signing/wallet"
)

// Flags are what a user can say on the command line, or with the environment variable of the same meaning.
type Flags struct {
	BaseURL     string // MONEYMOVEMENT_BASE_URL
	Email       string // MONEYMOVEMENT_EMAIL
	KeyFile     string // MONEYMOVEMENT_KEY_FILE
	APIKey      string // MONEYMOVEMENT_API_KEY
	AccessToken string // MONEYMOVEMENT_ACCESS_TOKEN
	WalletFile  string // MONEYMOVEMENT_WALLET_KEY_FILE
}

// Register adds the flags to a flag set.
func Register(flags *flag.FlagSet) *Flags {
	f := &Flags{}
	flags.StringVar(&f.BaseURL, "base-url", os.Getenv("MONEYMOVEMENT_BASE_URL"), "address of a sandbox host; empty starts one on loopback")
	flags.StringVar(&f.Email, "email", os.Getenv("MONEYMOVEMENT_EMAIL"), "account email at that host")
	flags.StringVar(&f.KeyFile, "key", os.Getenv("MONEYMOVEMENT_KEY_FILE"), "developer key file (PEM) of that account")
	flags.StringVar(&f.WalletFile, "wallet-key", os.Getenv("MONEYMOVEMENT_WALLET_KEY_FILE"), "key file (PEM) of the wallet that its cards spend from")
	// Of these, the environment is read later: -h prints defaults.
	flags.StringVar(&f.APIKey, "api-key", "", "app API key; who runs programs on this machine can read it here, and not in MONEYMOVEMENT_API_KEY")
	flags.StringVar(&f.AccessToken, "access-token", "", "token of the reference endpoints; the same goes for it and MONEYMOVEMENT_ACCESS_TOKEN")
	return f
}

// Need is a credential that a program uses.
type Need string

// What a program can need, each named by the flags that give it.
const (
	DeveloperKey Need = "-email and -key"
	APIKey       Need = "-api-key"
	AccessToken  Need = "-access-token"
	CardWallet   Need = "-wallet-key"
)

// Target is a host and what it knows a caller by. Of a host that flags name, there is what was needed.
type Target struct {
	BaseURL     string
	Email       string
	Key         *signing.DeveloperKey
	KeyFile     string
	APIKey      appapi.APIKey
	AccessToken refapi.AccessToken
	CardWallet  *wallet.Key
	Embedded    bool

	close func()
}

// Close ends an embedded host.
func (t *Target) Close() { t.close() }

// Open connects to the host that the flags name, with the credentials that the program needs. Without one, it starts a host on loopback,
// which has them all, and registers a fresh developer key there.
func (f *Flags) Open(needs ...Need) (*Target, error) {
	if f.BaseURL == "" {
		return embedded()
	}
	t := &Target{BaseURL: f.BaseURL, close: func() {}}
	for _, need := range needs {
		given, err := f.give(t, need)
		if err != nil {
			return nil, err
		}
		if !given {
			return nil, fmt.Errorf("-base-url needs %s as well", need)
		}
	}
	return t, nil
}

// give puts a credential into the target, if the user gave it.
func (f *Flags) give(t *Target, need Need) (given bool, err error) {
	switch need {
	case DeveloperKey:
		if f.Email == "" || f.KeyFile == "" {
			return false, nil
		}
		t.Email, t.KeyFile = f.Email, f.KeyFile
		t.Key, err = signing.LoadDeveloperKey(f.KeyFile)
	case APIKey:
		key := cmp.Or(f.APIKey, os.Getenv("MONEYMOVEMENT_API_KEY"))
		if key == "" {
			return false, nil
		}
		t.APIKey = appapi.NewAPIKey(key)
	case AccessToken:
		token := cmp.Or(f.AccessToken, os.Getenv("MONEYMOVEMENT_ACCESS_TOKEN"))
		if token == "" {
			return false, nil
		}
		t.AccessToken = refapi.NewAccessToken(token)
	case CardWallet:
		if f.WalletFile == "" {
			return false, nil
		}
		t.CardWallet, err = wallet.LoadKey(f.WalletFile)
	}
	return true, err
}

// embedded starts a host, makes a key, keeps it in a file as a real integrator would, and registers its public half.
func embedded() (t *Target, err error) {
	folder, err := os.MkdirTemp("", "moneymovement-")
	if err != nil {
		return nil, err
	}
	t = &Target{Embedded: true, Email: "ops@example.com", KeyFile: filepath.Join(folder, "developer.pem"), close: func() { _ = os.RemoveAll(folder) }}
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
	host := sandbox.New()
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
