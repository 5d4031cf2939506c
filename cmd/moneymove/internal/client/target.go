// Package client is what the commands call a host with. A [Target] says which host, and with which credentials: from
// flags, and otherwise from the environment. It is the one place that makes clients of the SDK from them. No flag holds
// a secret: flags name files.
//
// A [Request] is one request to any operation of the service, with the credential of its path. It is never sent twice,
// except after a 401 that says that the session has expired. What the operations take is read from the descriptions in
// openapi.
package client

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/url"
	"strings"

	"github.com/spf13/pflag"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/appapi"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/app"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/keys"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/payments"
	"github.com/moneymovement/moneymovement-go/public"
	"github.com/moneymovement/moneymovement-go/signing"
)

// The environment that stands in for flags. "moneymove sandbox env" prints it for a sandbox host.
const (
	EnvBaseURL     = "MONEYMOVEMENT_BASE_URL"
	EnvEmail       = "MONEYMOVEMENT_EMAIL"
	EnvKeyFile     = "MONEYMOVEMENT_KEY_FILE"
	EnvAPIKey      = "MONEYMOVEMENT_API_KEY"
	EnvAccessToken = "MONEYMOVEMENT_ACCESS_TOKEN" //gosec:disable G101 -- the name of a variable
	EnvClient      = "MONEYMOVEMENT_CLIENT"
)

// Target is a host of the service, and the credentials for it.
type Target struct {
	app *app.App

	url, email, keyFile, passphraseFile string
	apiKeyFile, accessTokenFile         string
	sessionFile, client                 string
	selfServe                           bool

	// read once: standard input cannot be read again
	key           keys.Key
	apiKey, token string
	sessions      *sessionKeeper
}

// New returns a target that is not set yet.
func New(a *app.App) *Target { return &Target{app: a} }

// HostFlags adds the flag of the host's address.
func (t *Target) HostFlags(flags *pflag.FlagSet) {
	flags.StringVar(&t.url, "url", "", "`address` of the host, such as https://host (default: $"+EnvBaseURL+")")
}

// KeyFlags adds the flags that name the developer key.
func (t *Target) KeyFlags(flags *pflag.FlagSet) {
	flags.StringVar(&t.keyFile, "key-file", "", "`file` with the developer key (default: $"+EnvKeyFile+")")
	flags.StringVar(&t.passphraseFile, "passphrase-file", "",
		"`file` with the passphrase of the developer key, or - for standard input")
}

// PlatformFlags adds the flags of the platform API: the host, the developer's session, and the account to act for.
func (t *Target) PlatformFlags(flags *pflag.FlagSet) {
	t.SessionFlags(flags)
	t.ClientFlag(flags)
}

// SessionFlags adds the flags of the host and of the developer's session.
func (t *Target) SessionFlags(flags *pflag.FlagSet) {
	t.HostFlags(flags)
	t.KeyFlags(flags)
	t.EmailFlag(flags)
	flags.StringVar(&t.sessionFile, "session", "",
		"`file` that keeps the session (default: a file per host, email and key in the user's configuration)")
	flags.BoolVar(&t.selfServe, "self-serve", false,
		"the key is of the account's owner, who pays for itself (default: it is an integrator's)")
}

// EmailFlag adds the flag of the email that the developer key logs in with.
func (t *Target) EmailFlag(flags *pflag.FlagSet) {
	flags.StringVar(&t.email, "email", "", "`email` of the account (default: $"+EnvEmail+")")
}

// ClientFlag adds the flag of the client to act for.
func (t *Target) ClientFlag(flags *pflag.FlagSet) {
	flags.StringVar(&t.client, "as", "",
		"act for this `client`, cl_... (default: $"+EnvClient+", or else the account of the key itself)")
}

// AppFlags adds the flag of the app API's credential.
func (t *Target) AppFlags(flags *pflag.FlagSet) {
	flags.StringVar(&t.apiKeyFile, "api-key-file", "",
		"`file` with the app API key, or - for standard input (default: $"+EnvAPIKey+" has the key)")
}

// ReferenceFlags adds the flag of the reference endpoints' credential.
func (t *Target) ReferenceFlags(flags *pflag.FlagSet) {
	flags.StringVar(&t.accessTokenFile, "access-token-file", "",
		"`file` with the access token of /api/v1, or - for standard input (default: $"+EnvAccessToken+" has it)")
}

// AllFlags adds every flag.
func (t *Target) AllFlags(flags *pflag.FlagSet) {
	t.PlatformFlags(flags)
	t.AppFlags(flags)
	t.ReferenceFlags(flags)
}

// flagOrEnv returns the flag's value, or else that of the environment.
func (t *Target) flagOrEnv(flag, variable string) string {
	if flag != "" {
		return flag
	}
	return t.app.Getenv(variable)
}

// requiredSetting is flagOrEnv, and refuses an empty value.
func (t *Target) requiredSetting(flag, value, variable string) (string, error) {
	if value = t.flagOrEnv(value, variable); value == "" {
		return "", app.Usagef("-%s is missing: give it, or set %s", flag, variable)
	}
	return value, nil
}

// BaseURL returns the address of the host, without a slash at its end. It refuses plain http to a host that is not
// loopback, as the SDK does.
func (t *Target) BaseURL() (*url.URL, error) {
	address, err := t.requiredSetting("url", t.url, EnvBaseURL)
	if err != nil {
		return nil, err
	}
	address = strings.TrimRight(address, "/")
	if _, err := public.New(address); err != nil { // the SDK's rules
		return nil, app.Usagef("-url: %w", err)
	}
	return url.Parse(address)
}

// Loopback reports whether the host is on this machine.
func (t *Target) Loopback() bool {
	base, err := t.BaseURL()
	if err != nil {
		return false
	}
	ip := net.ParseIP(base.Hostname())
	return strings.EqualFold(base.Hostname(), "localhost") || ip != nil && ip.IsLoopback()
}

// Client returns the client to act for, or "" for the account of the credential.
func (t *Target) Client() (dapi.ClientID, error) {
	client := t.flagOrEnv(t.client, EnvClient)
	if t.selfServe && client != "" {
		return "", app.Usagef("-self-serve has no clients: leave out -as and %s", EnvClient)
	}
	if client != "" && !strings.HasPrefix(client, "cl_") {
		return "", app.Usagef("-as is %q: the id of a client begins with cl_", client)
	}
	return dapi.ClientID(client), nil
}

// AccountName names the account that the command acts for: the host, the email, and the client.
func (t *Target) AccountName() ([]string, error) {
	base, err := t.BaseURL()
	if err != nil {
		return nil, err
	}
	email, err := t.requiredSetting("email", t.email, EnvEmail)
	if err != nil {
		return nil, err
	}
	client, err := t.Client()
	return []string{base.String(), email, string(client)}, err
}

// Key returns the developer key.
func (t *Target) Key() (keys.Key, error) {
	if t.key != nil {
		return t.key, nil
	}
	path, err := t.requiredSetting("key-file", t.keyFile, EnvKeyFile)
	if err != nil {
		return nil, err
	}
	t.key, err = keys.Load(t.app, "key-file", path, t.passphraseFile)
	return t.key, err
}

// KeyFile returns the name of the developer key's file.
func (t *Target) KeyFile() string { return t.flagOrEnv(t.keyFile, EnvKeyFile) }

// Developer returns the credential of the platform API. It keeps its session in the session file.
func (t *Target) Developer() (dapi.Developer, error) {
	base, err := t.BaseURL()
	if err != nil {
		return dapi.Developer{}, err
	}
	email, err := t.requiredSetting("email", t.email, EnvEmail)
	if err != nil {
		return dapi.Developer{}, err
	}
	key, err := t.Key()
	if err != nil {
		return dapi.Developer{}, err
	}
	developer := dapi.Developer{Email: email, Key: signing.Signer(key)}
	keeper, err := t.keeper(developer.Credential(base.String()))
	if err != nil {
		return dapi.Developer{}, err
	}
	developer.Store = keeper
	return developer, nil
}

// Integrator returns the client of the platform API for an integrator.
func (t *Target) Integrator(options ...moneymovement.Option) (*dapi.Integrator, error) {
	developer, err := t.Developer()
	if err != nil {
		return nil, err
	}
	if t.selfServe {
		return nil, app.Usagef("-self-serve has no clients: leave it out for the key of an integrator")
	}
	return dapi.NewIntegrator(t.base(), developer, t.options(options)...)
}

// Account returns the services of the account that the command acts for.
func (t *Target) Account(options ...moneymovement.Option) (*dapi.Account, error) {
	client, err := t.Client()
	if err != nil {
		return nil, err
	}
	if t.selfServe {
		return t.selfServeAccount(options)
	}
	integrator, err := t.Integrator(options...)
	if err != nil {
		return nil, err
	}
	if client == "" {
		return integrator.Self(), nil
	}
	t.ExplainClient(client)
	return integrator.For(client), nil
}

// ExplainClient explains a resource that was not found: if the host does not have the client either, the error says so.
func (t *Target) ExplainClient(client dapi.ClientID) {
	t.app.Explain(func(ctx context.Context, err error) error { return t.explainNotFound(ctx, err, client) })
}

func (t *Target) explainNotFound(ctx context.Context, err error, client dapi.ClientID) error {
	if !errors.HasCode(err, errors.CodeNotFound) {
		return err
	}
	integrator, failed := t.Integrator()
	if failed != nil {
		return err
	}
	if _, missing := integrator.Clients.Get(ctx, client); !errors.HasCode(missing, errors.CodeNotFound) {
		return err
	}
	from := "-as"
	if t.client == "" {
		from = EnvClient
	}
	return &app.Failure{Code: app.ExitCode(err), Err: fmt.Errorf(
		"client %s is not at this host: give the id of one that is, in %s (%w)", client, from, err)}
}

// SelfServe returns the client of the platform API for an account's owner.
func (t *Target) SelfServe(options ...moneymovement.Option) (*dapi.SelfServe, error) {
	developer, err := t.Developer()
	if err != nil {
		return nil, err
	}
	return dapi.NewSelfServe(t.base(), developer, t.options(options)...)
}

// Payments returns the services that reconcile stored payments, and the account to reconcile.
func (t *Target) Payments() (payments.Services, dapi.ClientID, error) {
	account, err := t.Client()
	if err != nil {
		return payments.Services{}, "", err
	}
	account = cmp.Or(account, payments.OwnAccount)
	if t.selfServe {
		own, err := t.SelfServe()
		return payments.SelfServeServices(own), account, err
	}
	integrator, err := t.Integrator()
	return payments.IntegratorServices(integrator), account, err
}

// selfServeAccount returns the services of a self-serve account, which has no verification and no rails on this API.
func (t *Target) selfServeAccount(options []moneymovement.Option) (*dapi.Account, error) {
	own, err := t.SelfServe(options...)
	if err != nil {
		return nil, err
	}
	return &dapi.Account{
		Payins: own.Payins, Contacts: own.Contacts, Payouts: own.Payouts, Escrows: own.Escrows,
		Transactions: own.Transactions, Chains: own.Chains, Sandbox: own.Sandbox,
	}, nil
}

// APIKey returns the app API key.
func (t *Target) APIKey() (moneymovement.Secret, error) {
	key, err := t.readSecret(&t.apiKey, "api-key-file", t.apiKeyFile, EnvAPIKey)
	return moneymovement.NewSecret(key), err
}

// HasAPIKey reports whether there is an app API key.
func (t *Target) HasAPIKey() bool { return t.flagOrEnv(t.apiKeyFile, EnvAPIKey) != "" }

// HasKey reports whether there is a developer key.
func (t *Target) HasKey() bool { return t.flagOrEnv(t.keyFile, EnvKeyFile) != "" }

// HasAccessToken reports whether there is an access token of the reference endpoints.
func (t *Target) HasAccessToken() bool { return t.flagOrEnv(t.accessTokenFile, EnvAccessToken) != "" }

// AccessToken returns the access token of the reference endpoints.
func (t *Target) AccessToken() (moneymovement.Secret, error) {
	token, err := t.readSecret(&t.token, "access-token-file", t.accessTokenFile, EnvAccessToken)
	return moneymovement.NewSecret(token), err
}

func (t *Target) readSecret(cached *string, flag, path, variable string) (string, error) {
	if *cached != "" {
		return *cached, nil
	}
	if path == "" {
		if *cached = t.app.Getenv(variable); *cached == "" {
			return "", app.Usagef("-%s is missing: name the file, or set %s", flag, variable)
		}
		return *cached, nil
	}
	var err error
	*cached, err = t.app.ReadSecret(flag, path)
	return *cached, err
}

// App returns a client of the app API.
func (t *Target) App(options ...moneymovement.Option) (*appapi.Client, error) {
	base, err := t.BaseURL()
	if err != nil {
		return nil, err
	}
	key, err := t.APIKey()
	if err != nil {
		return nil, err
	}
	return appapi.New(base.String(), appapi.NewAPIKey(key.Reveal()), t.options(options)...)
}

// Public returns a client of the public endpoints.
func (t *Target) Public(options ...moneymovement.Option) (*public.Client, error) {
	base, err := t.BaseURL()
	if err != nil {
		return nil, err
	}
	return public.New(base.String(), t.options(options)...)
}

// base returns the address that BaseURL has checked.
func (t *Target) base() string { return strings.TrimRight(t.flagOrEnv(t.url, EnvBaseURL), "/") }

// UserAgent names the command in requests.
const UserAgent = "moneymove/" + moneymovement.Version

func (t *Target) options(more []moneymovement.Option) []moneymovement.Option {
	return append([]moneymovement.Option{moneymovement.WithUserAgent(UserAgent)}, more...)
}

// Setting is a flag and its value.
type Setting struct{ Flag, Value string }

// FromEnvironment returns the settings that only the environment has. With them as flags, a command line means the same
// host and account in another shell.
func (t *Target) FromEnvironment() (settings []Setting) {
	for _, s := range []struct{ flag, given, variable string }{
		{"url", t.url, EnvBaseURL}, {"email", t.email, EnvEmail}, {"key-file", t.keyFile, EnvKeyFile},
		{"as", t.client, EnvClient},
	} {
		if value := t.flagOrEnv(s.given, s.variable); s.given == "" && value != "" {
			settings = append(settings, Setting{s.flag, value})
		}
	}
	return settings
}
