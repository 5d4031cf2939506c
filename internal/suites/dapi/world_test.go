package dapi_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"net/http"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/moneymovement/moneymovement-go/internal/watchedkey"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/internal/inprocess"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

// baseURL is where the tests' clients send; the wire delivers whatever the address is.
const baseURL = "http://127.0.0.1"

// world is a sandbox host with a wire to it that needs no socket, so that in a synctest bubble one clock moves client
// and host.
type world struct {
	*testing.T
	host *sandbox.Host
	wire *inprocess.Transport
	key  *watchedkey.Key
}

func newWorld(t *testing.T, options ...sandbox.Option) *world {
	t.Helper()
	violated := func(operation string, err error) { t.Errorf("%s answers what is not described: %v", operation, err) }
	host := sandbox.New(append(options, sandbox.WithResponseValidation(violated))...)
	return &world{T: t, host: host, wire: &inprocess.Transport{Handler: host, Now: host.Now},
		key: &watchedkey.Key{Signer: host.Credentials().Key}}
}

func (w *world) developer() dapi.Developer {
	return dapi.Developer{Email: w.host.Credentials().Email, Key: w.key}
}

func (w *world) options(more ...moneymovement.Option) []moneymovement.Option {
	return append([]moneymovement.Option{through(w.wire)}, more...)
}

// through makes a client send its requests by a transport.
func through(transport http.RoundTripper) moneymovement.Option {
	return moneymovement.WithHTTPClient(&http.Client{Transport: transport})
}

// integrator is a new client of the host, with a session of its own.
func (w *world) integrator(change ...func(*dapi.Developer)) *dapi.Integrator {
	w.Helper()
	developer := w.developer()
	for _, f := range change {
		f(&developer)
	}
	integrator, err := dapi.NewIntegrator(baseURL, developer, w.options(moneymovement.WithoutPacing())...)
	require.NoError(w, err)
	return integrator
}

// lapsed is a new client of the host whose access token was good, and is over.
func (w *world) lapsed(change ...func(*dapi.Developer)) *dapi.Account {
	w.Helper()
	account := w.integrator(change...).Self()
	require.NoError(w, read(w.Context(), account))
	time.Sleep(2 * time.Hour)
	return account
}

// logging is a new client of the host that writes to a log.
func (w *world) logging(change ...func(*dapi.Developer)) (self *dapi.Account, log *bytes.Buffer) {
	w.Helper()
	developer, log := w.developer(), new(bytes.Buffer)
	for _, f := range change {
		f(&developer)
	}
	integrator, err := dapi.NewIntegrator(baseURL, developer,
		w.options(moneymovement.WithLogger(slog.New(slog.NewTextHandler(log, nil))))...)
	require.NoError(w, err)
	return integrator.Self(), log
}

// account is a new client of the host for the integrator's own account, with 100 USDC and 100 EURC.
func (w *world) account() *dapi.Account {
	w.Helper()
	self := w.integrator().Self()
	for _, asset := range []dapi.Asset{dapi.USDC, dapi.EURC} {
		_, err := self.Sandbox.Deposit(w.Context(), dapi.DepositCreate{Amount: amount("100"), Currency: asset})
		require.NoError(w, err)
	}
	return self
}

func (w *world) contact(account *dapi.Account, to dapi.ContactAccount) dapi.ContactID {
	w.Helper()
	contact, err := account.Contacts.Create(w.Context(), dapi.ContactCreate{Name: "Bob", Account: to})
	require.NoError(w, err)
	return contact.ID
}

// sepa is a destination with a fee and an exchange rate.
func sepa() dapi.ContactAccount {
	return dapi.SEPA(dapi.IBANAccount{IBAN: "DE89370400440532013000", Holder: dapi.AccountHolder{Name: "Bob Roe"}})
}

// wallet is a destination that is paid directly.
func wallet() dapi.ContactAccount {
	return dapi.Onchain(dapi.OnchainAccount{
		WalletAddress: "0x52908400098527886E0F7030069857D2E4169EE7", ChainID: "base", Currency: "USDC",
	})
}

// operations are what the tests count, as the wire shows them: a request that met a fault has no operation in the
// host's log.
var operations = map[string]string{
	"CreateChallenge":  "POST /dapi/v1/auth/challenge",
	"CreateToken":      "POST /dapi/v1/auth/token",
	"RefreshToken":     "POST /dapi/v1/auth/refresh",
	"ListChains":       "GET /dapi/v1/chains",
	"GetClient":        "GET /dapi/v1/clients/*",
	"CreateContact":    "POST /dapi/v1/contacts",
	"BookPayout":       "POST /dapi/v1/payouts",
	"GetPayout":        "GET /dapi/v1/payouts/*",
	"ConfirmPayout":    "POST /dapi/v1/payouts/*/confirm",
	"ListTransactions": "GET /dapi/v1/transactions",
}

// sent counts the requests of an operation that reached the host.
func (w *world) sent(operation string) int {
	w.Helper()
	return len(w.requests(operation))
}

func (w *world) requests(operation string) []sandbox.Request {
	w.Helper()
	pattern, known := operations[operation]
	require.True(w, known, operation)
	var found []sandbox.Request
	for _, request := range w.host.Requests() {
		matched, err := path.Match(pattern, request.Method+" "+request.Path)
		require.NoError(w, err)
		if matched {
			found = append(found, request)
		}
	}
	return found
}

func (w *world) configure(change func(*sandbox.Settings)) {
	w.Helper()
	require.NoError(w, w.host.Configure(change))
}

// fundings counts how often money left an account for a payout, and checks the books on the way.
func (w *world) fundings() int {
	w.Helper()
	ledger, count := w.host.Ledger(), 0
	for currency, sum := range ledger.Sums {
		assert.True(w, sum.IsZero(), "the books of %s do not add up: %s", currency, sum)
	}
	for _, entry := range ledger.Entries {
		if entry.Kind == "payout_funding" && entry.Amount.IsNegative() {
			count++
		}
	}
	return count
}

func amount(text string) decimal.Decimal { return decimal.RequireFromString(text) }

// onSuccess changes what one kind of request is answered with when it succeeds.
func (w *world) onSuccess(method, pattern string, change func(body map[string]any)) {
	w.onSuccessOf([]string{method + " " + pattern}, change)
}

// onSuccessOf is onSuccess for several kinds, such as "GET /payouts/*".
func (w *world) onSuccessOf(kinds []string, change func(body map[string]any)) {
	w.wire.OnAnswer(func(r *http.Request, answer *http.Response) {
		matched := slices.ContainsFunc(kinds, func(kind string) bool {
			is, err := path.Match(kind, r.Method+" "+strings.TrimPrefix(r.URL.Path, "/dapi/v1"))
			assert.NoError(w, err)
			return is
		})
		if !matched || answer.StatusCode >= 300 {
			return
		}
		var body map[string]any
		assert.NoError(w, json.NewDecoder(answer.Body).Decode(&body))
		change(body)
		changed, err := json.Marshal(body)
		assert.NoError(w, err)
		inprocess.SetBody(answer, changed)
	})
}
