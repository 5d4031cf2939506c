package moneymovement_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/appapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/transport"
	"github.com/moneymovement/moneymovement-go/public"
)

// answering is a service that answers everything in the same way, and keeps what it was sent.
type answering struct {
	status int
	body   string
	got    []*http.Request
}

func (a *answering) RoundTrip(r *http.Request) (*http.Response, error) {
	a.got = append(a.got, r)
	return &http.Response{StatusCode: a.status, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(strings.NewReader(a.body)), Request: r}, nil
}

func (a *answering) option() moneymovement.Option {
	return moneymovement.WithHTTPClient(&http.Client{Transport: a})
}

const ratesJSON = `{"usdRate":"1.1"}`

func rates(t *testing.T, options ...moneymovement.Option) error {
	t.Helper()
	client, err := public.New("https://service.example", options...)
	require.NoError(t, err)
	_, err = client.Rates.Get(t.Context(), "EUR")
	return err
}

// The version is one that a module can have.
func TestTheVersionIsOne(t *testing.T) {
	assert.Regexp(t, `^\d+\.\d+\.\d+$`, moneymovement.Version)
}

func TestOptionsOfAClient(t *testing.T) {
	t.Run("a logger", func(t *testing.T) {
		var log bytes.Buffer
		service := &answering{status: 200, body: ratesJSON}
		logger := slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
		require.NoError(t, rates(t, service.option(), moneymovement.WithLogger(logger)))
		assert.Contains(t, log.String(), "GetRate")
	})
	t.Run("a user agent", func(t *testing.T) {
		service := &answering{status: 200, body: ratesJSON}
		require.NoError(t, rates(t, service.option(), moneymovement.WithUserAgent("backend/7")))
		assert.Contains(t, service.got[0].Header.Get("User-Agent"), "backend/7")
	})
	t.Run("retries", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			service := &answering{status: 502}
			started := time.Now()
			require.Error(t,
				rates(t, service.option(),
					moneymovement.WithRetries(moneymovement.RetryPolicy{Max: 1, WaitMin: 4 * time.Second})))
			assert.Len(t, service.got, 2)
			assert.GreaterOrEqual(t, time.Since(started), 2*time.Second)
		})
	})
	t.Run("plain HTTP", func(t *testing.T) {
		_, err := public.New("http://service.example")
		require.Error(t, err)
		_, err = public.New("http://service.example", moneymovement.WithPlainHTTP())
		require.NoError(t, err)
	})
}

// counting is a limiter of the caller's.
type counting struct {
	calls []moneymovement.RateCall
	err   error
}

func (c *counting) Wait(_ context.Context, call moneymovement.RateCall) error {
	c.calls = append(c.calls, call)
	return c.err
}

func TestALimiterOfTheCallers(t *testing.T) {
	limiter := &counting{}
	service := &answering{status: 200, body: ratesJSON}
	require.NoError(t, rates(t, service.option(), moneymovement.WithRateLimiter(limiter)))
	assert.Equal(t, []moneymovement.RateCall{{Class: moneymovement.ClassRead}}, limiter.calls)

	limiter.err = errors.New("no room")
	require.ErrorIs(t, rates(t, service.option(), moneymovement.WithRateLimiter(limiter)), limiter.err)
	assert.Len(t, service.got, 1, "nothing is sent that may not be")
	require.NoError(t, rates(t, service.option(), moneymovement.WithRateLimiter(limiter),
		moneymovement.WithRateLimiter(nil)))
	require.NoError(t, rates(t, service.option(), moneymovement.WithRateLimiter(limiter),
		moneymovement.WithoutPacing()))
	assert.Len(t, limiter.calls, 2, "the last option counts")

	var unpaced transport.Config
	moneymovement.WithoutPacing()(&unpaced)
	assert.True(t, unpaced.Unpaced)
}

// The key of a call travels with it, and comes back beside what could not be read of the answer.
func TestTheKeyOfACall(t *testing.T) {
	service := &answering{status: 200, body: `{"txHash":"0x1","name":{}}`}
	client, err := appapi.New("https://service.example", appapi.NewAPIKey("key"), service.option())
	require.NoError(t, err)
	var answer moneymovement.Response
	_, _ = client.Transfers.Send(t.Context(), appapi.ToQuote{QuoteID: "q_1"}, "rent-1",
		moneymovement.CaptureResponse(&answer))
	require.Len(t, service.got, 1)
	assert.Equal(t, []string{"rent-1"}, sentKey(service.got[0]))
	assert.Equal(t, "rent-1", answer.IdempotencyKey)
}

func TestKeyOfReadsTheKeyFromOptions(t *testing.T) {
	capture := moneymovement.CaptureResponse(new(moneymovement.Response))
	key, ok := moneymovement.KeyOf(nil, capture, moneymovement.IdempotencyKey("rent-1"), moneymovement.CallOption(nil))
	assert.Equal(t, moneymovement.Key("rent-1"), key)
	assert.True(t, ok)
	key, ok = moneymovement.KeyOf(moneymovement.IdempotencyKey(""))
	assert.Empty(t, key)
	assert.True(t, ok, "an empty key is no key that was left out")
	for _, options := range [][]moneymovement.WriteOption{nil, {capture}} {
		_, ok = moneymovement.KeyOf(options...)
		assert.False(t, ok)
	}
}

// sentKey reads the header, which is not spelled canonically.
func sentKey(r *http.Request) []string {
	for name, values := range r.Header {
		if strings.EqualFold(name, "Idempotency-Key") {
			return values
		}
	}
	return nil
}
