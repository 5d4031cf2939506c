package program

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/moneymovement/moneymovement-go/appapi"
	"github.com/moneymovement/moneymovement-go/refapi"
	"github.com/moneymovement/moneymovement-go/sandbox"
	"github.com/moneymovement/moneymovement-go/signing"
	"github.com/moneymovement/moneymovement-go/signing/wallet"
)

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
