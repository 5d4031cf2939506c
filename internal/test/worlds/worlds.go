// Package worlds has what several suites share: a sandbox host whose books add up, the ways to it, and clients of all
// surfaces.
package worlds

import (
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/appapi"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/inprocess"
	"github.com/moneymovement/moneymovement-go/internal/testkit"
	"github.com/moneymovement/moneymovement-go/model"
	"github.com/moneymovement/moneymovement-go/public"
	"github.com/moneymovement/moneymovement-go/refapi"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

// World is a sandbox host, its developer key, and a way to it. The host's responses are checked against the
// descriptions, and at the end of the test its books.
type World struct {
	*testing.T
	Host *sandbox.Host
	Key  *testkit.CountingKey
	URL  string
	Wire *inprocess.Transport // nil: the host is served on a port
}

// New returns a world that needs no socket, so that in a synctest bubble one clock moves clients and host.
func New(t *testing.T, options ...sandbox.Option) *World {
	t.Helper()
	violated := func(operation string, err error) { t.Errorf("%s: not described: %v", operation, err) }
	host := sandbox.New(append([]sandbox.Option{sandbox.WithResponseValidation(violated)}, options...)...)
	w := &World{T: t, Host: host, Key: &testkit.CountingKey{Signer: host.Credentials().Key},
		URL: "http://127.0.0.1", Wire: &inprocess.Transport{Handler: host, Now: host.Now}}
	t.Cleanup(func() { w.Books() })
	return w
}

// Serve returns a world whose host is on a port of loopback until the test ends.
func Serve(t *testing.T, options ...sandbox.Option) *World {
	t.Helper()
	w := New(t, options...)
	server := httptest.NewServer(w.Host)
	t.Cleanup(server.Close)
	w.URL, w.Wire = server.URL, nil
	return w
}

// FrozenClock makes the host's clock stand until the test moves it: on a slow machine, nothing happens earlier than on
// a fast one.
func FrozenClock() sandbox.Option {
	start := time.Now()
	return sandbox.WithClock(func() time.Time { return start })
}

func (w *World) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// Configure changes the host's settings.
func (w *World) Configure(change func(*sandbox.Settings)) {
	w.Helper()
	w.must(w.Host.Configure(change))
}

// Books returns the entries of the host's books, and checks that they add up.
func (w *World) Books() []sandbox.LedgerEntry {
	w.Helper()
	books := w.Host.Ledger()
	for currency, sum := range books.Sums {
		if !sum.IsZero() {
			w.Errorf("the books of %s do not add up: %s", currency, sum)
		}
	}
	return books.Entries
}

// Moved returns how often money left an account for each payout, escrow or transfer, by the kind of entry.
func (w *World) Moved(kind string) map[string]int {
	w.Helper()
	moved := map[string]int{}
	for _, entry := range w.Books() {
		if entry.Kind == kind && entry.Amount.IsNegative() {
			moved[entry.ResourceID]++
		}
	}
	return moved
}

// Fundings returns how often money left an account for any payout.
func (w *World) Fundings() (count int) {
	w.Helper()
	for _, times := range w.Moved("payout_funding") {
		count += times
	}
	return count
}

// operations are what the tests count, as the wire shows them: a request that met a fault has no operation in the
// host's log.
var operations = map[string]string{ //nolint:gosec // names and paths, no credentials
	"CreateChallenge":     "POST /dapi/v1/auth/challenge",
	"CreateToken":         "POST /dapi/v1/auth/token",
	"RefreshToken":        "POST /dapi/v1/auth/refresh",
	"ListChains":          "GET /dapi/v1/chains",
	"GetClient":           "GET /dapi/v1/clients/*",
	"CreateContact":       "POST /dapi/v1/contacts",
	"PrepareEscrowAction": "POST /dapi/v1/escrow/*/actions",
	"ConfirmEscrowAction": "POST /dapi/v1/escrow/*/actions/*/confirm",
	"BookPayout":          "POST /dapi/v1/payouts",
	"GetPayout":           "GET /dapi/v1/payouts/*",
	"ConfirmPayout":       "POST /dapi/v1/payouts/*/confirm",
	"ListTransactions":    "GET /dapi/v1/transactions",
	"SyncEscrow":          "POST /dapi/v1/escrow/*/sync",
}

// Requests returns the requests of an operation that reached the host.
func (w *World) Requests(operation string) []sandbox.Request {
	w.Helper()
	pattern, known := operations[operation]
	if !known {
		w.Fatalf("worlds does not know the operation %s", operation)
	}
	return slices.DeleteFunc(w.Host.Requests(), func(r sandbox.Request) bool {
		matched, err := path.Match(pattern, r.Method+" "+r.Path)
		w.must(err)
		return !matched
	})
}

// Sent counts the requests of an operation that reached the host.
func (w *World) Sent(operation string) int {
	w.Helper()
	return len(w.Requests(operation))
}

// WithTransport makes a client send its requests by a transport.
func WithTransport(transport http.RoundTripper) moneymovement.Option {
	return moneymovement.WithHTTPClient(&http.Client{Transport: transport})
}

// As returns err, or the first error that err wraps, if it has the type E. If none has it, the test fails and ends.
func As[E error](t testing.TB, err error) E {
	t.Helper()
	found, is := errors.AsType[E](err)
	if !is {
		t.Fatalf("%T: %v", err, err)
	}
	return found
}

// Options are those of a client of the host, in front of more.
func (w *World) Options(more ...moneymovement.Option) []moneymovement.Option {
	if w.Wire == nil {
		return more
	}
	return append([]moneymovement.Option{WithTransport(w.Wire)}, more...)
}

// Developer returns the host's own developer, whose key counts what it signs.
func (w *World) Developer() dapi.Developer {
	return dapi.Developer{Email: w.Host.Credentials().Email, Key: w.Key}
}

// Integrator returns a new client of the platform API, with a session of its own, as a new process has one.
func (w *World) Integrator(developer dapi.Developer, options ...moneymovement.Option) *dapi.Integrator {
	w.Helper()
	integrator, err := dapi.NewIntegrator(w.URL, developer, w.Options(options...)...)
	w.must(err)
	return integrator
}

// SelfServe returns a new client of the platform API for the developer's own account.
func (w *World) SelfServe() *dapi.SelfServe {
	w.Helper()
	own, err := dapi.NewSelfServe(w.URL, w.Developer(), w.Options()...)
	w.must(err)
	return own
}

// AppKey returns the host's key of the app API.
func (w *World) AppKey() appapi.APIKey { return appapi.NewAPIKey(w.Host.Credentials().APIKey.Reveal()) }

// App returns a new client of the app API.
func (w *World) App(key appapi.APIKey, options ...moneymovement.Option) *appapi.Client {
	w.Helper()
	app, err := appapi.New(w.URL, key, w.Options(options...)...)
	w.must(err)
	return app
}

// AccessToken returns the host's credential of the reference endpoints.
func (w *World) AccessToken() refapi.Credential {
	return refapi.Credential{AccessToken: refapi.NewAccessToken(w.Host.Credentials().AccessToken.Reveal())}
}

// Reference returns a new client of the reference endpoints.
func (w *World) Reference(credential refapi.Credential, options ...moneymovement.Option) *refapi.Client {
	w.Helper()
	reference, err := refapi.New(w.URL, credential, w.Options(options...)...)
	w.must(err)
	return reference
}

// Public returns a new client without a credential.
func (w *World) Public(options ...moneymovement.Option) *public.Client {
	w.Helper()
	everybody, err := public.New(w.URL, w.Options(options...)...)
	w.must(err)
	return everybody
}

// Credit puts money on an account. Two equal credits within two hours are one, unless each has a key of its own.
func (w *World) Credit(account *dapi.Sandbox, sum string, asset dapi.Asset, options ...moneymovement.WriteOption) {
	w.Helper()
	credit := dapi.DepositCreate{Amount: decimal.RequireFromString(sum), Currency: asset}
	_, err := account.Deposit(w.Context(), credit, options...)
	w.must(err)
}

// Contact makes a contact of an account.
func (w *World) Contact(contacts *dapi.Contacts, to dapi.ContactAccount) dapi.ContactID {
	w.Helper()
	contact, err := contacts.Create(w.Context(), dapi.ContactCreate{Name: "Bob", Account: to})
	w.must(err)
	return contact.ID
}

// AppContact makes a contact of the app's account, with a wallet.
func (w *World) AppContact(app *appapi.Client) string {
	w.Helper()
	contact, err := app.Contacts.Create(w.Context(),
		appapi.ContactCreate{Name: "Bob", Account: appapi.Onchain(model.OnchainAccount{
			WalletAddress: Payee, ChainID: "base", Currency: "USDC",
		})})
	w.must(err)
	return contact.ID
}

// Payee is the address of a wallet that can be paid.
const Payee = "0x52908400098527886E0F7030069857D2E4169EE7"

// Wallet is a destination that is paid directly.
func Wallet() dapi.ContactAccount {
	return dapi.Onchain(dapi.OnchainAccount{WalletAddress: Payee, ChainID: "base", Currency: "USDC"})
}

// SEPA is a destination with a fee and an exchange rate.
func SEPA() dapi.ContactAccount {
	return dapi.SEPA(dapi.BankFields{IBAN: "DE89370400440532013000", AccountHolderName: "Bob Roe"})
}
