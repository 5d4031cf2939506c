package contract_test

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/appapi"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/public"
	"github.com/moneymovement/moneymovement-go/refapi"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

// world is a host with a client of each surface, and the record of what they were answered.
type world struct {
	*testing.T
	host      *sandbox.Host
	record    *recorder
	platform  *dapi.Integrator
	app       *appapi.Client
	reference *refapi.Client
	public    *public.Client
}

func newWorld(t *testing.T) *world {
	t.Helper()
	violated := func(operation string, err error) { t.Errorf("%s answers what is not described: %v", operation, err) }
	host := sandbox.New(sandbox.WithAnswerValidation(violated))
	server := httptest.NewServer(host)
	t.Cleanup(server.Close)
	record := &recorder{next: way(t, server), all: operations(t), answered: map[string]int{}}
	options := []moneymovement.Option{
		moneymovement.WithHTTPClient(&http.Client{Transport: record}),
		moneymovement.WithRetries(moneymovement.RetryPolicy{Max: -1}), moneymovement.WithoutPacing(),
	}
	w := &world{T: t, host: host, record: record}
	credentials := host.Credentials()
	var err error
	w.platform, err = dapi.NewWhitelabel(server.URL, dapi.Developer{Email: credentials.Email, Key: credentials.Key}, options...)
	require.NoError(t, err)
	w.app, err = appapi.New(server.URL, appapi.NewAPIKey(credentials.APIKey.Reveal()), options...)
	require.NoError(t, err)
	w.reference, err = refapi.New(server.URL, refapi.NewAccessToken(credentials.AccessToken.Reveal()), options...)
	require.NoError(t, err)
	w.public, err = public.New(server.URL, options...)
	require.NoError(t, err)
	return w
}

// pass lets the host's time pass until what takes a moment has happened.
func (w *world) pass() { w.host.Advance(time.Minute) }

func amount(text string) decimal.Decimal { return decimal.RequireFromString(text) }

// ok unwraps a call that has to succeed.
func ok[T any](value T, err error) func(*world) T {
	return func(w *world) T {
		w.Helper()
		require.NoError(w, err)
		return value
	}
}

// TestEveryOperationIsReachable calls every operation of the four surfaces through the public API at least once. What was called is read off the
// wire and matched with the description, so that an operation that gains no method, or a method that no operation has, is found. The
// answers hold to the description, which the host validates, and decode.
func TestEveryOperationIsReachable(t *testing.T) {
	w := newWorld(t)
	w.walkClients()
	w.walkMoney()
	w.walkEscrow()
	w.walkRefresh()
	w.walkAccount()
	w.walkPaperwork()
	w.walkCards()
	w.walkTransfers()
	w.walkReference()

	var described []string
	for _, o := range w.record.all {
		described = append(described, o.name)
	}
	require.Greater(t, len(described), 80)
	assert.ElementsMatch(t, described, slices.Collect(maps.Keys(w.record.answered)))
	assert.Empty(t, w.record.unknown, "requests that nothing describes")
	for currency, sum := range w.host.Ledger().Sums {
		assert.True(t, sum.IsZero(), "the books of %s do not add up: %s", currency, sum)
	}
}
