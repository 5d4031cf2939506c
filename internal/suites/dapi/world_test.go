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

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/internal/inprocess"
	"github.com/moneymovement/moneymovement-go/internal/suites/worlds"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

type world struct{ *worlds.World }

func newWorld(t *testing.T, options ...sandbox.Option) *world {
	t.Helper()
	return &world{worlds.New(t, options...)}
}

// changed is the host's own developer, changed.
func (w *world) changed(change []func(*dapi.Developer)) dapi.Developer {
	developer := w.Developer()
	for _, f := range change {
		f(&developer)
	}
	return developer
}

// integrator is a new client of the host, with a session of its own.
func (w *world) integrator(change ...func(*dapi.Developer)) *dapi.Integrator {
	w.Helper()
	return w.Integrator(w.changed(change), moneymovement.WithoutPacing())
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
	log = new(bytes.Buffer)
	logger := moneymovement.WithLogger(slog.New(slog.NewTextHandler(log, nil)))
	return w.Integrator(w.changed(change), logger).Self(), log
}

// account is a new client of the host for the integrator's own account, with 100 USDC and 100 EURC.
func (w *world) account() *dapi.Account {
	w.Helper()
	self := w.integrator().Self()
	w.Credit(self.Sandbox, "100", dapi.USDC)
	w.Credit(self.Sandbox, "100", dapi.EURC)
	return self
}

var sepa, wallet = worlds.SEPA, worlds.Wallet

func as[E error](t testing.TB, err error) E { t.Helper(); return worlds.As[E](t, err) }

func amount(text string) decimal.Decimal { return decimal.RequireFromString(text) }

// onSuccess changes what one kind of request is answered with when it succeeds.
func (w *world) onSuccess(method, pattern string, change func(body map[string]any)) {
	w.onSuccessOf([]string{method + " " + pattern}, change)
}

// onSuccessOf is onSuccess for several kinds, such as "GET /payouts/*".
func (w *world) onSuccessOf(kinds []string, change func(body map[string]any)) {
	w.Wire.OnAnswer(func(r *http.Request, answer *http.Response) {
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
