// Package target finds what an example program runs against: a real sandbox host that flags or the environment name, or
// else a sandbox host of its own on loopback.
package target

import (
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

// Open connects to the host that the flags name, with the credentials that the program needs. Without one, it starts a
// host on loopback, which has them all, and registers a fresh developer key there.
func (f *Flags) Open() (*Target, error) {
	if f.BaseURL == "" {
		return embedded()
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
func (f *Flags) give(t *Target, need Need) (err error) {
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

// embedded starts a host, makes a key, keeps it in a file as a real integrator would, and registers its public half.
func embedded() (t *Target, err error) {
	folder, err := os.MkdirTemp("", "moneymovement-")
	if err != nil {
		return nil, err
	}
	t = &Target{Embedded: true, Email: "ops@example.com", KeyFile: filepath.Join(folder, "developer.pem"),
		close: func() { _ = os.RemoveAll(folder) }}
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
