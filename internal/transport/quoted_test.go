package transport_test

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/textproto"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// listen starts a server that passes each of its connections to serve, and then closes it.
func listen(t *testing.T, serve func(net.Conn)) (address string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				serve(conn)
			}()
		}
	}()
	return listener.Addr().String()
}

// raw starts a server that sends the bytes after the first request of each connection.
func raw(t *testing.T, answer string) (address string) {
	t.Helper()
	return listen(t, func(conn net.Conn) {
		if req, err := http.ReadRequest(bufio.NewReader(conn)); err == nil {
			_, _ = io.Copy(io.Discard, req.Body)
			_, _ = io.WriteString(conn, answer)
		}
	})
}

// served starts a server with this TLS configuration, and returns the configuration of a client that trusts it.
func served(t *testing.T, config *tls.Config, serve func(*tls.Conn)) (baseURL string, trusting *tls.Config) {
	t.Helper()
	lender := httptest.NewTLSServer(http.NotFoundHandler()) // of a certificate
	defer lender.Close()
	config.Certificates = lender.TLS.Certificates
	roots := x509.NewCertPool()
	roots.AddCert(lender.Certificate())
	return "https://" + listen(t, func(conn net.Conn) { serve(tls.Server(conn, config)) }),
		&tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
}

// requireNoSecret looks for the secret in everything that an error prints, and in each of its causes. It returns all
// these texts.
func requireNoSecret(t *testing.T, err error) (said string) {
	t.Helper()
	require.Error(t, err)
	said = err.Error()
	for _, format := range []string{"%v", "%+v", "%#v", "%q"} {
		require.NotContains(t, strings.ToLower(fmt.Sprintf(format, err)), "s3cret", format)
	}
	switch wrapped := err.(type) { //nolint:errorlint // every link of the chain is looked at
	case *errors.OutcomeUnknown:
		said += "\n" + requireNoSecret(t, wrapped.Cause)
	case interface{ Unwrap() error }:
		if cause := wrapped.Unwrap(); cause != nil {
			said += "\n" + requireNoSecret(t, cause)
		}
	case interface{ Unwrap() []error }:
		for _, cause := range wrapped.Unwrap() {
			said += "\n" + requireNoSecret(t, cause)
		}
	}
	_, shown := errors.AsType[textproto.ProtocolError](err)
	require.False(t, shown, "the quoting error itself")
	return said
}

// requireQuiet makes a read and a write that both fail, and looks for the secret in their errors and logs.
func requireQuiet(t *testing.T, baseURL, says string, set ...func(*transport.Config)) {
	t.Helper()
	var logs bytes.Buffer
	set = append(set, retries(moneymovement.RetryPolicy{Max: -1}), func(c *transport.Config) {
		c.Logger = slog.New(slog.NewJSONHandler(&logs, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	client := newClient(t, baseURL, set...)
	for _, op := range []*transport.Operation{&readThing, &spendThing} {
		_, err := send(t.Context(), client, op, transport.Call{})
		assert.Contains(t, requireNoSecret(t, err), says, op.ID)
	}
	require.NotEmpty(t, logs)
	require.NotContains(t, logs.String(), "s3cret")
}

const head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"

// The transport quotes the parts of a response that it cannot read. The SDK's errors and logs say what is wrong, and do
// not quote.
func TestMalformedAnswersAreNotQuoted(t *testing.T) {
	for name, tc := range map[string]struct{ answer, says string }{
		"first line":            {"session=s3cret\r\n\r\n", "malformed HTTP response"},
		"status code":           {"HTTP/1.1 s3cret OK\r\n\r\n", "malformed HTTP status code"},
		"long status code":      {"HTTP/1.1 200s3cret OK\r\n\r\n", "malformed HTTP status code"},
		"version":               {"HTTP/s3cret 200 OK\r\n\r\n", "malformed HTTP version"},
		"line without a colon":  {head + "Set-Cookie session=s3cret\r\n\r\n", "malformed MIME header"},
		"name with a null byte": {head + "Set\x00Cookie: session=s3cret\r\n\r\n", "malformed MIME header"},
		"no name":               {head + ": session=s3cret\r\n\r\n", "malformed MIME header"},
		"control character":     {head + "Set-Cookie: session=\x01s3cret\"s3cret\r\n\r\n", "malformed MIME header"},
		"continued at once": {"HTTP/1.1 200 OK\r\n Set-Cookie: session=s3cret\r\n\r\n",
			"malformed MIME header initial line"},
		"length": {head + "Content-Length: s3cret\r\n\r\n", "bad Content-Length"},
		"two lengths": {head + "Content-Length: 5\r\nContent-Length: s3cret\r\n\r\n",
			"multiple Content-Length headers"},
		"transfer encoding": {head + "Transfer-Encoding: s3cret\r\n\r\n", "unsupported transfer encoding"},
		"an answer before": {"HTTP/1.1 103 Early Hints\r\nSet-Cookie session=s3cret\r\n\r\n" + head + "\r\n",
			"malformed MIME header"},
		"trailer": {head + "Transfer-Encoding: chunked\r\n\r\n0\r\nSet-Cookie session=s3cret\r\n\r\n",
			"malformed MIME header"},
		"trailer of a refusal": {"HTTP/1.1 500 No\r\nTransfer-Encoding: chunked\r\n" +
			"\r\n0\r\nSet\x00Cookie: session=s3cret\r\n\r\n", "malformed MIME header"},
		"chunk": {head + "Transfer-Encoding: chunked\r\n\r\ns3cret\r\n\r\n", "chunk length"},
		"compression": {head +
			"Connection: close\r\nContent-Encoding: gzip\r\nContent-Length: 16\r\n\r\ns3crets3crets3cr", "gzip"},
		"address of a redirect": {"HTTP/1.1 307 Elsewhere\r\nConnection: close\r\nLocation: " +
			"http://s3cret:s3cret\r\nContent-Length: 0\r\n\r\n", "307"},
	} {
		t.Run(name, func(t *testing.T) { requireQuiet(t, "http://"+raw(t, tc.answer), tc.says) })
	}
}

// A stream's trailer arrives after its reader has the bytes.
func TestMalformedTrailersOfAStreamAreNotQuoted(t *testing.T) {
	answer := "HTTP/1.1 200 OK\r\nContent-Type: application/pdf\r\nTransfer-Encoding: chunked\r\n" +
		"\r\n0\r\nSet-Cookie session=s3cret\r\n\r\n"
	stream, err := transport.Open(t.Context(), newClient(t, "http://"+raw(t, answer)),
		request(&readThing, transport.Call{}), "application/pdf")
	require.NoError(t, err)
	defer stream.Close()
	_, err = io.ReadAll(stream)
	assert.Contains(t, requireNoSecret(t, err), "malformed MIME header")
}

func TestMalformedAnswersOfHTTP2AreNotQuoted(t *testing.T) {
	frame := func(kind, flags byte, stream uint32, payload string) string {
		h := binary.BigEndian.AppendUint32(nil, uint32(len(payload))<<8|uint32(kind))
		return string(binary.BigEndian.AppendUint32(append(h, flags), stream)) + payload
	}
	literal := func(name, value string) string {
		return "\x00" + string(rune(len(name))) + name + string(rune(len(value))) + value
	}
	const settings, headers, goAway, endOfHeaders, status200 = 4, 1, 7, 4, "\x88"
	for name, tc := range map[string]struct{ frames, says string }{
		"farewell": {frame(goAway, 0, 0, "\x00\x00\x00\x01\x00\x00\x00\x02session=s3cret"), "GOAWAY"},
		"header name": {frame(headers, endOfHeaders, 1, status200+literal("S3cret", "1")),
			"invalid header field name"},
		"header value": {frame(headers, endOfHeaders, 1, status200+literal("set-cookie", "s3cret\x00")),
			"invalid header field value"},
		"pseudo name": {frame(headers, endOfHeaders, 1, status200+literal(":s3cret", "1")), "invalid pseudo-header"},
	} {
		t.Run(name, func(t *testing.T) {
			address, trusting := served(t, &tls.Config{NextProtos: []string{"h2"}, MinVersion: tls.VersionTLS12},
				func(conn *tls.Conn) {
					_, _ = io.WriteString(conn, frame(settings, 0, 0, ""))
					request := bufio.NewReader(conn)
					_, _ = request.Discard(len("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"))
					for kind := byte(0); kind != headers; { // until the request's own
						h := make([]byte, 9)
						if _, err := io.ReadFull(request, h); err != nil {
							return
						}
						kind = h[3]
						_, _ = request.Discard(int(binary.BigEndian.Uint32(append([]byte{0}, h[:3]...))))
					}
					_, _ = io.WriteString(conn, tc.frames)
					if tc.says == "GOAWAY" {
						_ = conn.CloseWrite() // which it is quoted at
					}
					_, _ = io.Copy(io.Discard, request)
				})
			next := &http.Transport{TLSClientConfig: trusting, ForceAttemptHTTP2: true, DisableKeepAlives: true}
			requireQuiet(t, address, tc.says, through(next))
		})
	}
}

// A proxy's words in a refusal, and the credential in its address, are secret too.
func TestErrorsOfAProxyAreNotQuoted(t *testing.T) {
	proxied := func(proxy func(*http.Request) (*url.URL, error)) func(*transport.Config) {
		return inPlaceOfDefault(t, &http.Transport{Proxy: proxy})
	}
	t.Run("refusal", func(t *testing.T) {
		proxy := raw(t, "HTTP/1.1 407 session=s3cret\r\nSet-Cookie: s3cret\r\nContent-Length: 0\r\n\r\n")
		requireQuiet(t, host, "proxy refused the connection with status 407",
			proxied(http.ProxyURL(&url.URL{Scheme: "http", Host: proxy})))
	})
	t.Run("malformed", func(t *testing.T) {
		proxy := raw(t, "HTTP/1.1 407 No\r\nSet-Cookie s3cret\r\n\r\n")
		requireQuiet(t, host, "malformed MIME header",
			proxied(http.ProxyURL(&url.URL{Scheme: "http", Host: proxy, User: url.UserPassword("bob", "s3cret")})))
	})
	t.Run("unreachable", func(t *testing.T) {
		proxy := &url.URL{Scheme: "http", Host: "127.0.0.1:0", User: url.UserPassword("bob", "s3cret")}
		requireQuiet(t, host, "proxyconnect", proxied(http.ProxyURL(proxy)))
	})
	t.Run("address", func(t *testing.T) {
		requireQuiet(t, host, "invalid proxy address", proxied(func(*http.Request) (*url.URL, error) {
			// as net/http says it
			return nil, fmt.Errorf("invalid proxy address %q: invalid port", "http://bob:s3cret@proxy.example:port")
		}))
	})
}

// The caller can still find the error of its own transport, without its quotes.
func TestUnquotedErrorsKeepTheirCauses(t *testing.T) {
	own := errors.New(`own "s3cret"`)
	timeout := &net.OpError{Op: "read", Net: "tcp", Err: io.ErrUnexpectedEOF}
	quoting := &net.OpError{Op: "write", Net: "tcp", Err: textproto.ProtocolError(`malformed "s3cret`)}
	for _, tc := range []struct {
		err   error
		shown bool // as *net.OpError
	}{
		{fmt.Errorf("quoting %q: %w; %w", "s3cret", own, timeout), true},
		{fmt.Errorf("malformed MIME header line: Set-Cookie: s3cret: %w; %w", own, timeout), true},
		{errors.Join(own, quoting), false},
	} {
		_, err := send(t.Context(),
			newClient(t, host, through(script(fails(tc.err))), retries(moneymovement.RetryPolicy{Max: -1})), &readThing,
			transport.Call{})
		requireNoSecret(t, err)
		require.ErrorContains(t, err, `"..."`)
		require.ErrorIs(t, err, own)
		assert.Equal(t, tc.shown, errors.Is(err, io.ErrUnexpectedEOF))
		found, shown := errors.AsType[*net.OpError](err)
		require.Equal(t, tc.shown, shown)
		if shown {
			assert.Same(t, timeout, found)
		}
	}
}
