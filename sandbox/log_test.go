package sandbox_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/sandbox"
)

// Anybody can send a megabyte as a path, and the log remembers thousands of requests.
func TestTheLogOfLongRequestsStaysSmall(t *testing.T) {
	host := sandbox.New()
	long := strings.Repeat("a", 1<<20)
	for _, sent := range []struct{ method, path string }{{http.MethodGet, "/dapi/v1/" + long},
		{long, "/dapi/v1/chains"}} {
		host.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(sent.method, sent.path, nil))
	}
	requests := host.Requests()
	require.Len(t, requests, 2)
	for _, request := range requests {
		assert.LessOrEqual(t, len(request.Method)+len(request.Path), 2<<10)
	}
	assert.True(t, strings.HasPrefix(requests[0].Path, "/dapi/v1/aaa"))
}
