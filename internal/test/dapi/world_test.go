package dapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
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
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/inprocess"
	"github.com/moneymovement/moneymovement-go/internal/test/worlds"
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

// onSuccess changes what one kind of request gets in response when it succeeds.
func (w *world) onSuccess(method, pattern string, change func(body map[string]any)) {
	w.onSuccessOf([]string{method + " " + pattern}, change)
}

// onSuccessOf is onSuccess for several kinds, such as "GET /payouts/*".
func (w *world) onSuccessOf(kinds []string, change func(body map[string]any)) {
	w.Wire.OnResponse(func(r *http.Request, response *http.Response) {
		matched := slices.ContainsFunc(kinds, func(kind string) bool {
			is, err := path.Match(kind, r.Method+" "+strings.TrimPrefix(r.URL.Path, "/dapi/v1"))
			assert.NoError(w, err)
			return is
		})
		if !matched || response.StatusCode >= 300 {
			return
		}
		var body map[string]any
		assert.NoError(w, json.NewDecoder(response.Body).Decode(&body))
		change(body)
		changed, err := json.Marshal(body)
		assert.NoError(w, err)
		inprocess.SetBody(response, changed)
	})
}

// payOption sets one of the terms of a payment or an escrow, so that tables can combine them.
type payOption func(*dapi.PayTerms)

func payTerms(options ...payOption) (terms dapi.PayTerms) {
	for _, option := range options {
		if option != nil {
			option(&terms)
		}
	}
	return terms
}

func escrowTerms(options ...payOption) dapi.EscrowTerms {
	terms := payTerms(options...)
	escrow := dapi.EscrowTerms{History: terms.History, Journal: terms.Journal}
	if see := terms.BeforeSigning; see != nil {
		escrow.BeforeSigning = func(ctx context.Context, d *dapi.Escrow) error {
			return see(ctx, &dapi.Payout{ID: dapi.PayoutID(d.ID)})
		}
	}
	return escrow
}

// journaled stores nothing. An empty history proves that no earlier call has paid.
func journaled() payOption {
	return func(t *dapi.PayTerms) {
		t.Journal = func(context.Context, dapi.History) error { return nil }
		t.History.Unpaid = t.History != dapi.History{}
	}
}

func firstUsedAt(at time.Time) payOption {
	return func(t *dapi.PayTerms) { t.History.FirstUsed = at }
}

// knownPayout is the payout of an earlier call. With journaled before it, that call has not paid.
func knownPayout(id dapi.PayoutID) payOption {
	return func(t *dapi.PayTerms) { t.History.PayoutID, t.History.Unpaid = id, t.Journal != nil }
}

// knownEscrow is knownPayout for an escrow.
func knownEscrow(id dapi.EscrowID) payOption {
	return func(t *dapi.PayTerms) { t.History.EscrowID, t.History.Unpaid = id, t.Journal != nil }
}

func maxFee(fee decimal.Decimal) payOption {
	return func(t *dapi.PayTerms) { t.Bounds.MaxFee = &fee }
}

func minDestinationAmount(least decimal.Decimal, currency string) payOption {
	return func(t *dapi.PayTerms) {
		t.Bounds.MinDestinationAmount, t.Bounds.DestinationCurrency = &least, currency
	}
}

func noWorseThan(quote dapi.Quote) payOption {
	return func(t *dapi.PayTerms) { t.Bounds.NoWorseThan = &quote }
}

func quoteTolerance(part decimal.Decimal) payOption {
	return func(t *dapi.PayTerms) { t.Bounds.QuoteTolerance = part }
}

func beforeSigning(f func(context.Context, *dapi.Payout) error) payOption {
	return func(t *dapi.PayTerms) { t.BeforeSigning = f }
}

// handled is the transport that many programs write for their tests: it gives the client's request to a handler.
type handled struct{ http.Handler }

func (h handled) RoundTrip(r *http.Request) (*http.Response, error) {
	recorder := httptest.NewRecorder()
	h.ServeHTTP(recorder, r)
	return recorder.Result(), nil
}

// A fake that gives the client's own request to a handler finds the idempotency key there, and payments work.
func TestPayThroughAHandlerWithoutAConnection(t *testing.T) {
	w := newPayWorld(t)
	var keys []string
	recorded := http.HandlerFunc(func(writer http.ResponseWriter, r *http.Request) {
		if key := r.Header.Get("Idempotency-Key"); key != "" {
			keys = append(keys, key)
		}
		w.Host.ServeHTTP(writer, r)
	})
	integrator, err := dapi.NewIntegrator(w.URL, w.Developer(),
		moneymovement.WithHTTPClient(&http.Client{Transport: handled{recorded}}))
	require.NoError(t, err)
	payment, err := integrator.Self().Payouts.Pay(w.Context(), w.asked, "invoice-42", dapi.PayTerms{})
	require.NoError(t, err)
	assert.Equal(t, moneymovement.PaymentPaid, payment.State)
	assert.Equal(t, []string{"invoice-42"}, keys[:1])
}

// refusalIn returns the refusal of a payment, which is the cause of a doubt about earlier calls.
func refusalIn(err error) error {
	if inDoubt, ok := errors.AsType[*errors.InDoubt](err); ok {
		return inDoubt.Cause
	}
	return err
}
