package transport_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// secured starts a server that returns a thing over TLS.
func secured(t *testing.T, config *tls.Config) *httptest.Server {
	t.Helper()
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, oneThing)
	}))
	// it complains about every handshake that fails
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	server.TLS = config
	server.StartTLS()
	t.Cleanup(server.Close)
	return server
}

// inPlaceOfDefault sets http.DefaultTransport for a test, and returns a setting for a client without its own transport.
func inPlaceOfDefault(t *testing.T, next http.RoundTripper) func(*transport.Config) {
	t.Helper()
	standard := http.DefaultTransport
	t.Cleanup(func() { http.DefaultTransport = standard })
	http.DefaultTransport = next
	return func(c *transport.Config) { c.HTTPClient = &http.Client{} }
}

// The server will speak the same protocol at the next attempt, and nothing was sent.
func TestVersionsOfTLSAreFinal(t *testing.T) {
	own := func(*transport.Config) {}
	without := inPlaceOfDefault(t, http.DefaultTransport)
	old := secured(t, &tls.Config{MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}).URL
	plain, _ := counted(t, func(http.ResponseWriter, *http.Request) {})
	impossible := through(&http.Transport{TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS13,
		MaxVersion: tls.VersionTLS12}})
	hello := "\x02\x00\x00\x26\x03\x02" + strings.Repeat("r", 32) + "\x00\x00\x2f\x00"
	selects := listen(t, func(conn net.Conn) {
		_, _ = conn.Read(make([]byte, 4<<10))
		_, _ = io.WriteString(conn, "\x16\x03\x02\x00\x2a"+hello)
		_, _ = io.Copy(io.Discard, conn)
	})
	chatter := listen(t, func(conn net.Conn) {
		_, _ = conn.Read(make([]byte, 4<<10))
		_, _ = io.WriteString(conn, "220 another service\r\n")
	})
	for name, tc := range map[string]struct {
		baseURL, says string
		set           func(*transport.Config)
	}{
		"a server of 1.1":      {old, "protocol version not supported", without},
		"1.1 is selected":      {"https://" + selects, "server selected unsupported protocol version", without},
		"no version in common": {old, "no supported versions", impossible},
		"a server without TLS": {strings.Replace(plain.URL, "http:", "https:", 1), "HTTP response to HTTPS client",
			without},
		"a server of no HTTP": {"https://" + chatter, "does not look like a TLS handshake", without},
		"a client of the caller": {strings.Replace(plain.URL, "http:", "https:", 1), "HTTP response to HTTPS client",
			own},
	} {
		for _, op := range []*transport.Operation{&readThing, &bookThing, &spendThing} {
			t.Run(name+"/"+op.ID, func(t *testing.T) {
				_, err := send(t.Context(), newClient(t, tc.baseURL, tc.set), op, transport.Call{})
				undelivered, ok := errors.AsType[*errors.NotDelivered](err)
				require.True(t, ok, "%v", err)
				require.ErrorContains(t, err, tc.says)
				assert.Equal(t, 1, undelivered.Attempts)
				assert.False(t, undelivered.Retryable())
				assert.Equal(t, errors.NotMoved, undelivered.MovedByCall())
			})
		}
	}
}

// A damaged record after the handshake does not mean that nothing was sent.
func TestDamagedRecordsAreNoVersion(t *testing.T) {
	baseURL, trusting := served(t, &tls.Config{MinVersion: tls.VersionTLS12}, func(conn *tls.Conn) {
		_, _ = conn.Read(make([]byte, 4<<10))
		_, _ = io.WriteString(conn.NetConn(), "220 no record at all\r\n")
	})
	_, err := send(t.Context(), newClient(t, baseURL, through(&http.Transport{TLSClientConfig: trusting})), &spendThing,
		transport.Call{})
	_, unknown := errors.AsType[*errors.OutcomeUnknown](err)
	require.True(t, unknown, "%v", err)
}

// A host that asks for a certificate gets the one in the caller's transport.
func TestMutualTLS(t *testing.T) {
	server := secured(t, &tls.Config{ClientAuth: tls.RequireAnyClientCert})
	trusted := x509.NewCertPool()
	trusted.AddCert(server.Certificate())
	with := func(certificates ...tls.Certificate) func(*transport.Config) {
		return through(&http.Transport{ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{RootCAs: trusted,
			MinVersion: tls.VersionTLS12, Certificates: certificates}})
	}
	_, err := send(t.Context(), newClient(t, server.URL, with()), &readThing, transport.Call{})
	require.Error(t, err)
	_, err = send(t.Context(), newClient(t, server.URL, with(server.TLS.Certificates...)), &readThing, transport.Call{})
	require.NoError(t, err)
}

// Weak TLS settings of the process are not for this server.
func TestDefaultTransportInheritsNoWeakness(t *testing.T) {
	strangers := secured(t, nil)
	trusted := x509.NewCertPool()
	trusted.AddCert(strangers.Certificate())
	old := secured(t, &tls.Config{MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11})
	refuses := func(t *testing.T, baseURL string, next *http.Transport) error {
		t.Helper()
		_, err := send(t.Context(), newClient(t, baseURL, inPlaceOfDefault(t, next)), &readThing, transport.Call{})
		_, undelivered := errors.AsType[*errors.NotDelivered](err)
		require.True(t, undelivered, "%v", err)
		return err
	}
	t.Run("InsecureSkipVerify", func(t *testing.T) {
		err := refuses(t, strangers.URL, &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}})
		_, certificate := errors.AsType[*tls.CertificateVerificationError](err)
		assert.True(t, certificate, "%v", err)
	})
	t.Run("MinVersion", func(t *testing.T) {
		err := refuses(t, old.URL,
			&http.Transport{TLSClientConfig: &tls.Config{RootCAs: trusted, MinVersion: tls.VersionTLS10}})
		assert.ErrorContains(t, err, "protocol version not supported")
	})
	t.Run("DialTLSContext", func(t *testing.T) {
		refuses(t, strangers.URL,
			&http.Transport{DialTLSContext: func(ctx context.Context, network, address string) (net.Conn, error) {
				dialer := tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true}}
				return dialer.DialContext(ctx, network, address)
			}})
	})
	t.Run("KeyLogWriter", func(t *testing.T) {
		var keys bytes.Buffer
		set := inPlaceOfDefault(t, &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trusted, KeyLogWriter: &keys}})
		_, err := send(t.Context(), newClient(t, strangers.URL, set), &readThing, transport.Call{})
		require.NoError(t, err)
		assert.Empty(t, keys.String())
	})
}

// Settings of the process's network are for this server too.
func TestDefaultTransportInheritsTheWay(t *testing.T) {
	server := secured(t, nil)
	trusted := x509.NewCertPool()
	trusted.AddCert(server.Certificate())
	var dialed atomic.Int32
	set := inPlaceOfDefault(t, &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: trusted},
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			dialed.Add(1)
			return new(net.Dialer).DialContext(ctx, network, address)
		},
	})
	_, err := send(t.Context(), newClient(t, server.URL, set), &readThing, transport.Call{})
	require.NoError(t, err)
	assert.EqualValues(t, 1, dialed.Load())
}

// The first use of http.DefaultTransport changes some of its fields. A client may be made at this moment, such as while
// a test server of another test closes its connections.
func TestAClientIsMadeWhileTheDefaultTransportIsFirstUsed(t *testing.T) {
	standard := &http.Transport{ForceAttemptHTTP2: true}
	without := inPlaceOfDefault(t, standard)
	var used sync.WaitGroup
	used.Go(standard.CloseIdleConnections)
	newClient(t, host, without)
	used.Wait()
}
