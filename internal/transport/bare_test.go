package transport_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// What no operation describes has the guards of every other call.
func TestABareRequestIsGuarded(t *testing.T) {
	sent := func(method, url string) (*http.Response, error) {
		request, err := http.NewRequestWithContext(t.Context(), method, url, http.NoBody)
		require.NoError(t, err)
		return transport.NewBare().RoundTrip(request)
	}
	for name, answer := range map[string]string{
		"a malformed header": "HTTP/1.1 200 OK\r\nplanted\r\n\r\n", "no HTTP": "planted\r\n\r\n",
		"a malformed length": "HTTP/1.1 200 OK\r\nContent-Length: planted\r\n\r\n",
	} {
		_, err := sent(http.MethodGet, "http://user:planted@"+raw(t, answer)+"/?planted=1") //nolint:bodyclose // an error
		require.Error(t, err, name)
		assert.NotContains(t, err.Error(), "planted", name)
	}
	calls := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls++
		http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
	}))
	defer server.Close()
	response, err := sent(http.MethodPost, server.URL)
	require.NoError(t, err)
	assert.Equal(t, http.StatusTemporaryRedirect, response.StatusCode)
	_, err = io.Copy(io.Discard, response.Body)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	assert.Equal(t, 1, calls)
}
