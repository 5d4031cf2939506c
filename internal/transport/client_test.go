package transport_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/jarcoal/httpmock"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// What people copy or forget is named.
func TestOriginsAreExplained(t *testing.T) {
	for baseURL, says := range map[string]string{
		"service.example": "must begin with https://", "service.example:8443": "must begin with https://",
		"localhost:8080": "must begin with https://", "https://service.example\n": "contains a blank",
		"https://service.example/\u00a0": "contains a blank", "https://service.example/../a": "without ..",
		"%zz": "must begin with https://", "https://service.example/%zz": "is not a valid URL",
	} {
		_, err := transport.New(baseURL, "/v1", transport.Config{})
		assert.ErrorContains(t, err, says, "%q", baseURL)
	}
}

// The credential is sent over https, or where nobody can read plain http.
func TestOrigins(t *testing.T) {
	for baseURL, tc := range map[string]struct{ accepted, withPlainHTTP bool }{
		"https://service.example":          {true, true},
		"https://service.example:8443":     {true, true},
		"https://service.example/":         {true, true},
		"https://service.example/base/":    {true, true},
		"HTTPS://service.example":          {true, true},
		"https://127.0.0.1":                {true, true},
		"http://127.0.0.1:8080":            {true, true},
		"http://127.3.2.1":                 {true, true},
		"http://[::1]:8080":                {true, true},
		"http://localhost:8080":            {true, true},
		"http://LOCALHOST":                 {true, true},
		"http://service.example":           {false, true},
		"http://127.0.0.1.service.example": {false, true},
		"http://localhost.service.example": {false, true},
		"http://x.localhost:8080":          {false, true},
		"http://192.168.0.1":               {false, true},
		"http://0.0.0.0":                   {false, true},
		"http://[::ffff:10.0.0.1]":         {false, true},
		"":                                 {},
		"service.example":                  {},
		"//service.example":                {},
		"https://":                         {},
		"https://:443":                     {},
		"http://:8080":                     {},
		"https:service.example":            {},
		"ftp://service.example":            {},
		"file:///etc/passwd":               {},
		"javascript:alert(1)":              {},
		"https://user@service.example":     {},
		"https://user:pw@service.example":  {},
		"https://service.example?a=b":      {},
		"https://service.example?":         {},
		"https://service.example#f":        {},
		"https://service.example/%zz":      {},
		"https://service.example\r\n":      {},
		"https://[::1":                     {},
		" https://service.example":         {},
		"https://service.example/ ":        {},
		"https://service.example ":         {},
		"https://service.example/\u00a0":   {},
		"https://service.\u200bexample":    {},
		"https://service.example/a/../b":   {},
		"https://service.example/..":       {},
		"https://service.example/%2e%2e/b": {},
		"https://service.example//b":       {},
	} {
		for _, plain := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/%v", baseURL, plain), func(t *testing.T) {
				client, err := transport.New(baseURL, "/v1", transport.Config{
					ClientSettings: moneymovement.ClientSettings{PlainHTTP: plain}})
				if plain && tc.withPlainHTTP || !plain && tc.accepted {
					require.NoError(t, err)
					assert.NotNil(t, client)
					return
				}
				code := "invalid_url"
				if tc.withPlainHTTP {
					code = "https_required"
				}
				refused(t, err, "baseURL", code)
				assert.NotContains(t, err.Error(), "pw")
				assert.ErrorContains(t, err, "New: ")
			})
		}
	}
}

// The surface's path is added. An address that ends with it is a mistake: every call would return 404.
func TestBaseURLsWithThePathOfTheSurface(t *testing.T) {
	for _, base := range []string{"/v1", "/v1/", "/base/v1//"} {
		_, err := transport.New(host+base, "/v1", transport.Config{})
		refused(t, err, "baseURL", "path_not_expected")
	}
	for _, base := range []string{"/v1/base", "/dapiv1", "/v11"} {
		_, err := transport.New(host+base, "/v1", transport.Config{})
		require.NoError(t, err, base)
	}
	_, err := transport.New(host+"/", "", transport.Config{})
	require.NoError(t, err)
}

func TestBasePaths(t *testing.T) {
	for base, want := range map[string]string{
		"":            "/v1/things/ct_1",
		"/":           "/v1/things/ct_1",
		"//":          "/v1/things/ct_1",
		"/base":       "/base/v1/things/ct_1",
		"/base/":      "/base/v1/things/ct_1",
		"/a%2Fb":      "/a%2Fb/v1/things/ct_1",
		"/a%20b/é":    "/a%20b/%C3%A9/v1/things/ct_1",
		"/base/deep/": "/base/deep/v1/things/ct_1",
	} {
		svc := script(ok)
		_, err := send(t.Context(), newClient(t, host+base, through(svc)), &readThing, transport.Call{})
		require.NoError(t, err)
		assert.Equal(t, want, svc.attempts()[0].uri, "%q", base)
	}
	svc := script(ok)
	client, err := transport.New(host+"/", "", transport.Config{ClientSettings: moneymovement.ClientSettings{
		HTTPClient: &http.Client{Transport: svc}}})
	require.NoError(t, err)
	_, err = send(t.Context(), client, &readThing, transport.Call{})
	require.NoError(t, err)
	assert.Equal(t, "/things/ct_1", svc.attempts()[0].uri, "a surface without a path of its own")
}

func TestUserAgentCannotBreakAHeader(t *testing.T) {
	for _, agent := range []string{"a\r\nX: y", "a\n", "a\x00", "a\x7f"} {
		_, err := transport.New(host, "/v1",
			transport.Config{ClientSettings: moneymovement.ClientSettings{UserAgent: agent}})
		refused(t, err, "userAgent", "invalid_header")
	}
}

// net/http puts the URL into its errors. A query can hold values that a log must not show.
func TestErrorsNeverPrintTheAddress(t *testing.T) {
	dead := httptest.NewServer(http.NotFoundHandler())
	dead.Close()
	hangUp := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		panic(http.ErrAbortHandler)
	}))
	defer hangUp.Close()
	garbage := "http://" + raw(t, "nonsense\r\n\r\n")
	for name, baseURL := range map[string]string{"no server": dead.URL, "hangs up": hangUp.URL,
		"answers garbage": garbage} {
		for _, op := range []*transport.Operation{&readThing, &bookThing, &spendThing} {
			t.Run(name+"/"+op.ID, func(t *testing.T) {
				r := request(op, transport.Call{})
				r.Query("cursor", "s3cret")
				_, err := transport.Do[thing](t.Context(), newClient(t, baseURL), r)
				require.Error(t, err)
				for _, text := range []string{err.Error(), fmt.Sprintf("%+v", err), causes(err)} {
					assert.NotContains(t, text, "s3cret")
					assert.NotContains(t, text, "/things")
					assert.NotContains(t, text, "giving up")
				}
				_, wrapped := errors.AsType[*url.Error](err)
				assert.False(t, wrapped)
			})
		}
	}
}

// A mock that does not know a request also puts the URL into its error.
func TestErrorsOfAMockNeverPrintTheAddress(t *testing.T) {
	mock := httpmock.NewMockTransport()
	mock.RegisterResponder(http.MethodPost, host+"/v1/things",
		httpmock.NewErrorResponder(&url.Error{Op: "Post", URL: host + "?s3cret", Err: io.EOF}))
	client := newClient(t, host, through(mock), retries(moneymovement.RetryPolicy{Max: -1}))
	_, err := send(t.Context(), client, &bookThing, transport.Call{})
	require.ErrorIs(t, err, io.EOF)
	assert.NotContains(t, causes(err), "s3cret")
}

// causes returns the text of an error and of all errors that it wraps.
func causes(err error) string {
	text := ""
	for ; err != nil; err = errors.Unwrap(err) {
		text += err.Error() + "\n"
	}
	return text
}

// An anonymous client says nothing about the program, unless the program says it.
func TestAnAnonymousClient(t *testing.T) {
	for name, tc := range map[string]struct {
		anonymous    bool
		agent, want  string
		acceptsCoded string
	}{
		"anonymous":       {true, "", "", ""},
		"with a name":     {true, "shop/1", "shop/1 moneymovement-go/", ""},
		"not anonymous":   {false, "", "moneymovement-go/", "gzip"},
		"neither of both": {false, "shop/1", "shop/1 moneymovement-go/", "gzip"},
	} {
		t.Run(name, func(t *testing.T) {
			var got http.Header
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				got = r.Header
				w.Header().Set("Content-Type", "application/json")
				_, _ = io.WriteString(w, oneThing)
			}))
			defer server.Close()
			client, err := transport.New(server.URL, "/v1", transport.Config{Anonymous: tc.anonymous,
				ClientSettings: moneymovement.ClientSettings{UserAgent: tc.agent}})
			require.NoError(t, err)
			_, err = send(t.Context(), client, &readThing, transport.Call{})
			require.NoError(t, err)
			assert.Equal(t, tc.acceptsCoded, got.Get("Accept-Encoding"))
			assert.True(t, strings.HasPrefix(got.Get("User-Agent"), tc.want), got)
			assert.Equal(t, tc.want == "", got.Get("User-Agent") == "")
		})
	}
}

// The transports of the program are around each other, the last one outside. Each option is checked.
func TestTransportsOfAProgram(t *testing.T) {
	var order []string
	wrap := func(name string) func(http.RoundTripper) http.RoundTripper {
		return func(next http.RoundTripper) http.RoundTripper {
			return step(func(req *http.Request) (*http.Response, error) {
				order = append(order, name)
				return next.RoundTrip(req)
			})
		}
	}
	client := newClient(t, host, through(script(ok)), func(c *transport.Config) {
		c.Transports = append(c.Transports, wrap("inner"), wrap("outer"))
	})
	_, err := send(t.Context(), client, &readThing, transport.Call{})
	require.NoError(t, err)
	assert.Equal(t, []string{"outer", "inner"}, order)

	var config transport.Config
	config.Transports = append(config.Transports, func(http.RoundTripper) http.RoundTripper { return nil })
	_, err = transport.New(host, "/v1", config)
	refused(t, err, "WithTransport", "invalid_option")

	config = transport.Config{}
	config.Invalid = []errors.Field{{Field: "WithTimeout", Code: "invalid_option", Message: "must not be negative"}}
	_, err = transport.New(host, "/v1", config)
	refused(t, err, "WithTimeout", "invalid_option")
	invalid, _ := errors.AsType[*errors.InvalidInput](err)
	assert.Equal(t, "New", invalid.Operation)
}

// A call without a context sends nothing.
func TestACallWithoutAContext(t *testing.T) {
	var without context.Context
	svc := script(ok)
	_, err := send(without, newClient(t, host, through(svc)), &readThing, transport.Call{})
	refused(t, err, "context", "required")
	assert.Empty(t, svc.attempts())
}

// A flow without a context or a client fails before it begins, and names both at once.
func TestFlowsRefuseNilContextAndClient(t *testing.T) {
	var without context.Context
	client := newClient(t, host, through(script(ok)))
	require.NoError(t, transport.Ready(t.Context(), client, transport.Flow{Op: &readThing}, "New"))
	refused(t, transport.Ready(without, client, transport.Flow{Op: &readThing}, "New"), "context", "required")
	refused(t, transport.Ready(t.Context(), nil, transport.Flow{Op: &readThing}, "New"), "client", "not_made")
	err := transport.Ready(without, nil, transport.Flow{Op: &readThing}, "appapi.New")
	refused(t, err, "context", "required", "client", "not_made")
	require.ErrorContains(t, err, "GetThing")
	require.ErrorContains(t, err, "appapi.New")
}

func TestNilClientIsRefused(t *testing.T) {
	assert.Equal(t, []string{"client not_made"}, refusals(t, func(c *transport.Check) { c.Constructed(nil, "New") }))
	assert.Nil(t, refusals(t, func(c *transport.Check) { c.Constructed(newClient(t, host), "New") }))
}

// A call acts for its client's own account, with its options. Without a client it is refused.
func TestARequestOfAClient(t *testing.T) {
	svc := script(ok)
	client := newClient(t, host, through(svc))
	list := transport.Operation{ID: "ListThings", Method: http.MethodGet, Path: "/things"}
	var kept moneymovement.Response
	_, err := transport.Do[thing](t.Context(), client,
		transport.RequestOf(client, "New", &list, transport.Kept(&kept)))
	require.NoError(t, err)
	require.Len(t, svc.attempts(), 1)
	assert.Equal(t, "/v1/things", svc.attempts()[0].uri)
	assert.Empty(t, svc.attempts()[0].header["X-Service-Account"])
	assert.Equal(t, http.StatusOK, kept.Status)

	_, err = transport.Do[thing](t.Context(), nil,
		transport.RequestOf(nil, "appapi.New", &list, transport.Kept(&kept)))
	refused(t, err, "client", "not_made")
	require.ErrorContains(t, err, "appapi.New")
}

// The calls of a service that no constructor made are refused, and do not panic.
func TestNilServiceIsRefused(t *testing.T) {
	made := &thing{ID: "th_1"}
	assert.Same(t, made, transport.OrNew(made))
	assert.Equal(t, &thing{}, transport.OrNew[thing](nil))
}
