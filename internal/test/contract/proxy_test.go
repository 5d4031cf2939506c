package contract_test

import (
	"net/http"
	"net/url"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// proxyVariable names the HTTP proxy that everything between the SDK and the host passes, so that a tool of others can
// judge it (internal/test/interop/). The variables that net/http knows do not apply to loopback.
const proxyVariable = "MONEYMOVEMENT_PROXY"

// way is how the clients reach the host: through the proxy that the environment names, or else directly.
func way(t *testing.T) http.RoundTripper {
	t.Helper()
	named := os.Getenv(proxyVariable)
	if named == "" {
		return http.DefaultTransport
	}
	proxy, err := url.Parse(named)
	require.NoError(t, err)
	transport := &http.Transport{Proxy: http.ProxyURL(proxy)}
	t.Cleanup(transport.CloseIdleConnections)
	return transport
}
