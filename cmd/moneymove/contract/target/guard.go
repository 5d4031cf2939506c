// Package target says which host the contract suite or `moneymove check` runs against, and protects other hosts. A
// host that is not a sandbox gets a login and one read, and nothing else. A check only reads. So a person may allow its
// reads on such a host as well, and the guard then stops whatever is not a read.
//
// A [Caller] sends requests past the SDK, and keeps the responses as they came. The SDK would refuse to send a request
// that is wrong on purpose, and to return a response that is not what it expects.
package target

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/signing"
	"github.com/moneymovement/moneymovement-go/signing/wallet"
)

// The environment names a real sandbox host, like the flags of the examples. Only the first three variables are
// required. Cases that need another variable are skipped without it.
const (
	BaseURLVariable     = "MONEYMOVEMENT_BASE_URL"        // without /dapi/v1
	EmailVariable       = "MONEYMOVEMENT_EMAIL"           // of the account
	KeyFileVariable     = "MONEYMOVEMENT_KEY_FILE"        // developer key, PEM
	APIKeyVariable      = "MONEYMOVEMENT_API_KEY"         // of an app of the account
	AccessTokenVariable = "MONEYMOVEMENT_ACCESS_TOKEN"    // of the reference endpoints
	WalletVariable      = "MONEYMOVEMENT_WALLET_KEY_FILE" // wallet of the account's cards, PEM
)

// Real is a host that somebody named, and the credentials for it.
type Real struct {
	BaseURL     *url.URL
	Email       string
	Key         *signing.DeveloperKey
	APIKey      moneymovement.Secret // empty if it is not set
	AccessToken moneymovement.Secret // empty if it is not set
	CardWallet  *wallet.Key          // nil if it is not set
}

// IsSet reports whether a credential is given.
func IsSet(credential moneymovement.Secret) bool { return credential.Reveal() != "" }

// FromEnvironment reads the real host from the variables. If none is set, it returns nil and no error.
func FromEnvironment(variable func(string) string) (*Real, error) {
	named := variable(BaseURLVariable)
	if named == "" {
		return nil, nil
	}
	base, err := Address(named)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", BaseURLVariable, err)
	}
	r := &Real{BaseURL: base, Email: variable(EmailVariable)}
	if r.Email == "" || variable(KeyFileVariable) == "" {
		return nil, fmt.Errorf("%s needs %s and %s as well", BaseURLVariable, EmailVariable, KeyFileVariable)
	}
	if r.Key, err = signing.LoadDeveloperKey(variable(KeyFileVariable)); err != nil {
		return nil, err
	}
	r.APIKey = moneymovement.NewSecret(variable(APIKeyVariable))
	r.AccessToken = moneymovement.NewSecret(variable(AccessTokenVariable))
	if file := variable(WalletVariable); file != "" {
		if r.CardWallet, err = wallet.LoadKey(file); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// Address reads the address of a host.
func Address(text string) (*url.URL, error) {
	base, err := url.Parse(text)
	if err != nil || base.Host == "" || base.Scheme != "https" && base.Scheme != "http" {
		return nil, errors.New("this is not an address of a host; it is like https://sandbox.example")
	}
	return base, nil
}

// The reasons why a guard does not send a request.
var (
	// ErrNotSandbox means that nothing shows that the host is a sandbox.
	ErrNotSandbox = errors.New("not sent: the host has not shown that it is a sandbox")
	// ErrWrites means that the request may write, in a run that only reads.
	ErrWrites = errors.New("not sent: this run only reads")
)

const (
	platformPath = "/dapi/v1/"
	loginPath    = "/dapi/v1/auth/"
	treasuryPath = "/dapi/v1/sandbox/treasury"
)

// Guard stands between a run and a real host. Until GET /dapi/v1/sandbox/treasury returns 200, it sends only that
// request and the login. After any other response to it, it sends nothing. It never sends to another host. It pauses
// after each request. The pause after a write of the platform API is longer, because that window has a fifth of the
// reads' calls.
type Guard struct {
	Next    http.RoundTripper
	BaseURL *url.URL
	// ReadOnly lets only reads and the login pass, on a sandbox as well.
	ReadOnly bool
	// AnyHost lets reads and the login pass on a host that has not shown that it is a sandbox.
	AnyHost    bool
	Pause      time.Duration // after a request
	WritePause time.Duration // after a write of the platform API

	mu         sync.Mutex
	sandbox    bool
	notSandbox bool
	next       time.Time // of the next request
}

// RoundTrip implements http.RoundTripper.
func (g *Guard) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Scheme != g.BaseURL.Scheme || r.URL.Host != g.BaseURL.Host {
		return nil, fmt.Errorf("not sent: %s is not the host of this run", r.URL.Host)
	}
	logsIn := r.Method == http.MethodPost && strings.HasPrefix(g.path(r), loginPath)
	reads := r.Method == http.MethodGet
	if g.ReadOnly && !reads && !logsIn {
		return nil, fmt.Errorf("%s %s: %w", r.Method, r.URL.Path, ErrWrites)
	}
	asks := reads && g.path(r) == treasuryPath
	if !g.mayPass(asks || logsIn) && !(g.AnyHost && (reads || logsIn)) {
		return nil, fmt.Errorf("%s %s: %w", r.Method, r.URL.Path, ErrNotSandbox)
	}
	if err := g.wait(r); err != nil {
		return nil, err
	}
	response, err := g.Next.RoundTrip(r)
	if err == nil && asks {
		g.noteTreasury(response.StatusCode)
	}
	return response, err
}

func (g *Guard) path(r *http.Request) string {
	return strings.TrimPrefix(r.URL.Path, strings.TrimSuffix(g.BaseURL.Path, "/"))
}

func (g *Guard) mayPass(harmless bool) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return !g.notSandbox && (g.sandbox || harmless)
}

// noteTreasury accepts a host as a sandbox if it has a treasury. An expired session or a rate limit shows nothing.
func (g *Guard) noteTreasury(status int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch status {
	case http.StatusOK:
		g.sandbox = true
	case http.StatusUnauthorized, http.StatusTooManyRequests:
	default:
		g.notSandbox = g.notSandbox || !g.sandbox
	}
}

// wait keeps a pause between requests: other users of the same credential share the rate windows.
func (g *Guard) wait(r *http.Request) error {
	g.mu.Lock()
	now := time.Now()
	at := now
	if g.next.After(now) {
		at = g.next
	}
	g.next = at.Add(g.pauseAfter(r))
	g.mu.Unlock()
	timer := time.NewTimer(at.Sub(now))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-r.Context().Done():
		return r.Context().Err()
	}
}

func (g *Guard) pauseAfter(r *http.Request) time.Duration {
	if r.Method != http.MethodGet && strings.HasPrefix(g.path(r), platformPath) {
		return g.WritePause
	}
	return g.Pause
}
