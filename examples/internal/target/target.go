// Package target finds what an example program runs against: a real sandbox host that flags or the environment name, or else a sandbox
// host of its own on loopback.
package target

import (
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/moneymovement/moneymovement-go/sandbox"
	"github.com/moneymovement/moneymovement-go/signing"
)

// Flags are what a user can say on the command line, or with the environment variable of the same meaning.
type Flags struct {
	BaseURL string // MONEYMOVEMENT_BASE_URL
	Email   string // MONEYMOVEMENT_EMAIL
	KeyFile string // MONEYMOVEMENT_KEY_FILE
}

// Register adds the flags -base-url, -email and -key to a flag set.
func Register(flags *flag.FlagSet) *Flags {
	f := &Flags{}
	flags.StringVar(&f.BaseURL, "base-url", os.Getenv("MONEYMOVEMENT_BASE_URL"), "address of a sandbox host; empty starts one on loopback")
	flags.StringVar(&f.Email, "email", os.Getenv("MONEYMOVEMENT_EMAIL"), "account email at that host")
	flags.StringVar(&f.KeyFile, "key", os.Getenv("MONEYMOVEMENT_KEY_FILE"), "developer key file (PEM) of that account")
	return f
}

// Target is a host and a developer key that it knows.
type Target struct {
	BaseURL  string
	Email    string
	Key      *signing.DeveloperKey
	KeyFile  string
	Embedded bool

	close func()
}

// Close ends an embedded host.
func (t *Target) Close() { t.close() }

// Open connects to the host that the flags name. Without one, it starts a host on loopback and registers a fresh key there.
func (f *Flags) Open() (*Target, error) {
	if f.BaseURL == "" {
		return embedded()
	}
	if f.Email == "" || f.KeyFile == "" {
		return nil, errors.New("-base-url needs -email and -key as well")
	}
	key, err := signing.LoadDeveloperKey(f.KeyFile)
	if err != nil {
		return nil, err
	}
	return &Target{BaseURL: f.BaseURL, Email: f.Email, Key: key, KeyFile: f.KeyFile, close: func() {}}, nil
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
