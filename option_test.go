package moneymovement_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/appapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/public"
)

// responding is a service that responds to everything in the same way, and keeps what it was sent.
type responding struct {
	status int
	body   string
	got    []*http.Request
}

func (a *responding) RoundTrip(r *http.Request) (*http.Response, error) {
	a.got = append(a.got, r)
	return &http.Response{StatusCode: a.status, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(strings.NewReader(a.body)), Request: r}, nil
}

func (a *responding) option() moneymovement.Option {
	return moneymovement.WithHTTPClient(&http.Client{Transport: a})
}

type passing func(*http.Request) (*http.Response, error)

func (p passing) RoundTrip(r *http.Request) (*http.Response, error) { return p(r) }

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
		service := &responding{status: 200, body: ratesJSON}
		logger := slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
		require.NoError(t, rates(t, service.option(), moneymovement.WithLogger(logger)))
		assert.Contains(t, log.String(), "GetRate")
	})
	t.Run("a transport around another", func(t *testing.T) {
		service := &responding{status: 200, body: ratesJSON}
		var passed []string
		through := func(name string) moneymovement.Option {
			return moneymovement.WithTransport(func(next http.RoundTripper) http.RoundTripper {
				return passing(func(r *http.Request) (*http.Response, error) {
					passed = append(passed, name)
					return next.RoundTrip(r)
				})
			})
		}
		require.NoError(t, rates(t, through("inner"), service.option(), through("outer")))
		assert.Equal(t, []string{"outer", "inner"}, passed)
		assert.Len(t, service.got, 1)
	})
	t.Run("a transport around the SDK's own", func(t *testing.T) {
		var own http.RoundTripper
		keep := func(next http.RoundTripper) http.RoundTripper {
			own = next
			return next
		}
		_, err := public.New("https://service.example", moneymovement.WithTransport(keep))
		require.NoError(t, err)
		assert.NotNil(t, own)
		assert.NotEqual(t, http.DefaultTransport, own)
	})
	t.Run("a transport around the SDK's own keeps its connections", func(t *testing.T) {
		const callers, rounds = 20, 9
		var opened atomic.Int32
		server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			time.Sleep(time.Millisecond)
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, ratesJSON)
		}))
		server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
			if state == http.StateNew {
				opened.Add(1)
			}
		}
		server.Start()
		defer server.Close()
		wrapped := moneymovement.WithTransport(func(next http.RoundTripper) http.RoundTripper {
			return passing(func(r *http.Request) (*http.Response, error) { return next.RoundTrip(r) })
		})
		client, err := public.New(server.URL, wrapped)
		require.NoError(t, err)
		for range rounds {
			var all sync.WaitGroup
			for range callers {
				all.Go(func() {
					_, err := client.Rates.Get(t.Context(), "EUR")
					assert.NoError(t, err)
				})
			}
			all.Wait()
		}
		// a connection can come back to the pool a moment after its response was read
		assert.LessOrEqual(t, opened.Load(), int32(2*callers))
	})
	t.Run("no transport", func(t *testing.T) {
		for _, wrap := range []func(http.RoundTripper) http.RoundTripper{
			nil, func(http.RoundTripper) http.RoundTripper { return nil },
		} {
			_, err := public.New("https://service.example", moneymovement.WithTransport(wrap))
			var refused *errors.InvalidInput
			require.ErrorAs(t, err, &refused)
			assert.Equal(t, "WithTransport", refused.Fields[0].Field)
		}
	})
	t.Run("a user agent", func(t *testing.T) {
		service := &responding{status: 200, body: ratesJSON}
		require.NoError(t, rates(t, service.option(), moneymovement.WithUserAgent("backend/7")))
		assert.Contains(t, service.got[0].Header.Get("User-Agent"), "backend/7")
	})
	t.Run("retries", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			service := &responding{status: 502}
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

func TestCallersRateLimiterIsUsed(t *testing.T) {
	limiter := &counting{}
	service := &responding{status: 200, body: ratesJSON}
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

	unpaced := moneymovement.ClientSettingsOf(moneymovement.WithRateLimiter(limiter), moneymovement.WithoutPacing())
	assert.Equal(t, moneymovement.ClientSettings{Unpaced: true}, unpaced)

	late := &moneymovement.WindowFull{Window: moneymovement.WindowWrites, Until: time.Now().Add(time.Minute)}
	limiter.err = fmt.Errorf("the fleet is busy: %w", late)
	err := rates(t, service.option(), moneymovement.WithRateLimiter(limiter))
	found, is := errors.AsType[*moneymovement.WindowFull](err)
	require.True(t, is)
	assert.Same(t, late, found)
	call, _ := errors.CallInfoOf(err)
	assert.Equal(t, late.Until, call.RetryAt)
}

// The key of a call travels with it, and comes back beside what could not be read of the response.
func TestIdempotencyKeyOptionSetsTheHeader(t *testing.T) {
	service := &responding{status: 200, body: `{"txHash":"0x1","name":{}}`}
	client, err := appapi.New("https://service.example", appapi.NewAPIKey("key"), service.option())
	require.NoError(t, err)
	var response moneymovement.Response
	_, _ = client.Transfers.Send(t.Context(), appapi.ToQuote{QuoteID: "q_1"}, "rent-1",
		moneymovement.CaptureResponse(&response))
	require.Len(t, service.got, 1)
	assert.Equal(t, []string{"rent-1"}, sentKey(service.got[0]))
	assert.Equal(t, "rent-1", response.IdempotencyKey)
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

// slow is a service that takes some time for each request.
type slow struct {
	takes  time.Duration
	status int // 0 loses the response
	body   string
}

func (s *slow) RoundTrip(req *http.Request) (*http.Response, error) {
	select {
	case <-time.After(s.takes):
	case <-req.Context().Done():
		return nil, req.Context().Err()
	}
	if s.status == 0 {
		return nil, errors.New("the connection broke")
	}
	return (&responding{status: s.status, body: s.body}).RoundTrip(req)
}

func TestATimeoutEndsACall(t *testing.T) {
	second := []moneymovement.Option{moneymovement.WithTimeout(time.Second)}
	for name, c := range map[string]struct {
		ofClient []moneymovement.Option
		ofCall   []moneymovement.CallOption
		ends     time.Duration // 0 if it does not
	}{
		"none":          {nil, nil, 0},
		"of the client": {second, nil, time.Second},
		"of the call": {nil, []moneymovement.CallOption{moneymovement.Timeout(2 * time.Second)},
			2 * time.Second},
		"a longer one of a call": {second, []moneymovement.CallOption{moneymovement.Timeout(time.Minute)}, 0},
		"none of a call":         {second, []moneymovement.CallOption{moneymovement.Timeout(0)}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				service := &slow{takes: 10 * time.Second, status: 200, body: `{"txHash":"0x1"}`}
				app, err := appapi.New("https://service.example", appapi.NewAPIKey("key"),
					append(c.ofClient, moneymovement.WithHTTPClient(&http.Client{Transport: service}))...)
				require.NoError(t, err)
				began := time.Now()
				_, err = app.Transfers.Send(t.Context(), appapi.ToQuote{QuoteID: "q_1"}, "k", c.ofCall...)
				if c.ends == 0 {
					require.NoError(t, err)
					return
				}
				assert.Equal(t, c.ends, time.Since(began))
				require.ErrorIs(t, err, context.DeadlineExceeded)
				var unknown *errors.InDoubt
				require.ErrorAs(t, err, &unknown, "a write that may have been carried out")
			})
		})
	}
}

func TestInvalidClientOptionsAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		option moneymovement.Option
		field  string
	}{
		"a negative timeout":       {moneymovement.WithTimeout(-1), "WithTimeout"},
		"no pause":                 {moneymovement.WithPolling(0, time.Second), "WithPolling"},
		"a pause of more than 24h": {moneymovement.WithPolling(time.Second, 25*time.Hour), "WithPolling"},
		"pauses the wrong way":     {moneymovement.WithPolling(time.Minute, time.Second), "WithPolling"},
	} {
		_, err := appapi.New("https://service.example", appapi.NewAPIKey("key"), c.option)
		var input *errors.InvalidInput
		require.ErrorAs(t, err, &input, name)
		assert.Equal(t, c.field, input.Fields[0].Field)
	}
	app, err := appapi.New("https://service.example", appapi.NewAPIKey("key"))
	require.NoError(t, err)
	_, err = app.Account.Profile(t.Context(), moneymovement.Timeout(-1))
	var input *errors.InvalidInput
	require.ErrorAs(t, err, &input)
	assert.Equal(t, "Timeout", input.Fields[0].Field)
	_, err = app.Account.Profile(t.Context(), moneymovement.CaptureResponse(nil))
	require.ErrorAs(t, err, &input)
	assert.Equal(t, "CaptureResponse", input.Fields[0].Field)
}
