package transport

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
)

// TestEachAttemptSendsAHeaderOfItsOwn lets the first attempt fail. Its connection may still read the header while the
// second attempt's credential is set.
func TestEachAttemptSendsAHeaderOfItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sent []http.Header
		client, err := New("https://service.invalid", "/v1", Config{ClientSettings: moneymovement.ClientSettingsOf(
			moneymovement.WithHTTPClient(&http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response,
				error) {
				sent = append(sent, r.Header)
				status := http.StatusOK
				if len(sent) == 1 {
					status = http.StatusServiceUnavailable
				}
				return &http.Response{StatusCode: status, Header: http.Header{},
					Body: io.NopCloser(strings.NewReader(`{}`)), Request: r}, nil
			})}))})
		require.NoError(t, err)

		op := &Operation{ID: "BookPayout", Method: http.MethodPost, Path: "/payouts", Repeat: RepeatKey}
		_, err = Do[struct{}](t.Context(), client, NewRequest(op, "cl_1", Keyed("invoice-42")))

		require.NoError(t, err)
		require.Len(t, sent, 2)
		assert.Equal(t, []string{"cl_1"}, sent[0]["X-Service-Account"])
		assert.Contains(t, sent[0], keyHeader)
		assert.Equal(t, sent[0], sent[1])
		sent[0].Set("Authorization", "changed afterwards")
		assert.NotContains(t, sent[1], "Authorization")
		assert.Empty(t, noHeader)
	})
}

// TestHTTPClientIsGivenNoHeader keeps credentials where http.Client cannot copy them.
func TestHTTPClientIsGivenNoHeader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answered := 0
		client, err := New("https://service.invalid", "/v1", Config{ClientSettings: moneymovement.ClientSettingsOf(
			moneymovement.WithHTTPClient(&http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response,
				error) {
				assert.Equal(t, []string{"cl_1"}, r.Header["X-Service-Account"])
				answered++
				return &http.Response{StatusCode: http.StatusServiceUnavailable,
					Header: http.Header{}, Body: http.NoBody,
					Request: r}, nil
			})}))})
		require.NoError(t, err)
		op := &Operation{ID: "GetPayout", Method: http.MethodGet, Path: "/payouts"}
		r := NewRequest(op, "cl_1", Call{})
		r.tracker = tracker{op: op, call: &r.call, request: r, retried: 1, header: r.header(client)}
		loop := client.retrier(t.Context(), &r.tracker)
		given := 0
		inner := loop.HTTPClient.Transport
		loop.HTTPClient.Transport = roundTripper(func(r *http.Request) (*http.Response, error) {
			assert.Empty(t, r.Header)
			given++
			return inner.RoundTrip(r)
		})

		req := r.http(client, nil)
		require.NoError(t, r.tracker.retrying(loop, req.WithContext(t.Context()), nil))
		assert.Equal(t, 3, answered)
		assert.Equal(t, 3, given, "all attempts after the first, which http.Client is not asked for")
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
