package transport_test

import (
	"cmp"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// Followed, a redirect would hand the credential's header and the body to whoever the answer names.
func TestRedirectsAreNeverFollowed(t *testing.T) {
	var reached atomic.Int32
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Add(1) }))
	defer elsewhere.Close()

	for name, location := range map[string]string{
		"to another host":          elsewhere.URL + "/stolen?token=t",
		"to the same host":         "/v1/elsewhere",
		"without a scheme":         "//" + elsewhere.Listener.Addr().String() + "/stolen",
		"to nowhere":               "",
		"to what is no URL":        "http://[::1%zz/?token=t",
		"to what is no URL either": "https://a b.example/%zz?token=t",
	} {
		for _, status := range []int{301, 302, 303, 307, 308} {
			for _, op := range []*transport.Operation{&readThing, &bookThing, &deleteThing, &spendThing} {
				t.Run(name+"/"+http.StatusText(status)+"/"+op.ID, func(t *testing.T) {
					var seen atomic.Int32
					server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
						seen.Add(1)
						assert.Equal(t, "secret", r.Header.Get("X-Api-Key"))
						if location != "" {
							w.Header()["Location"] = []string{location}
						}
						w.WriteHeader(status)
					}))
					defer server.Close()

					var answer moneymovement.Response
					client := newClient(t, server.URL, authorizedBy(keyCredential{}))
					_, err := send(t.Context(), client, op, transport.Kept(&answer))

					assert.NotContains(t, err.Error(), "token")
					unknown, lost := errors.AsType[*errors.OutcomeUnknown](err)
					assert.Equal(t, op.Method != http.MethodGet, lost, "%v", err)
					if lost {
						err = unknown.Cause
					}
					var unexpected *errors.UnexpectedResponse
					require.ErrorAs(t, err, &unexpected)
					assert.Equal(t, status, unexpected.Status)
					assert.EqualValues(t, 1, seen.Load(), "not sent again either")
					assert.Equal(t, status, answer.Status)
				})
			}
		}
	}
	assert.Zero(t, reached.Load())
}

// A retry follows no redirect either, not even to the same host: the answer to where it leads would count as that to
// the call.
func TestARetryFollowsNoRedirect(t *testing.T) {
	for name, location := range map[string]string{
		"the same path": "", "another path": "/v1/elsewhere", "with the host": "http://service.example/v1/things/t_1",
	} {
		for _, status := range []int{301, 302, 303, 307, 308} {
			for _, op := range []*transport.Operation{&readThing, &bookThing, &deleteThing, &spendThing} {
				t.Run(name+"/"+http.StatusText(status)+"/"+op.ID, func(t *testing.T) {
					var paths []string
					server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
						paths = append(paths, r.URL.Path)
						switch len(paths) {
						case 1:
							w.Header().Set("Retry-After", "0")
							w.WriteHeader(http.StatusTooManyRequests)
							return
						case 3: // which nobody may get
							return
						}
						to := strings.Replace(location, "service.example", r.Host, 1)
						w.Header().Set("Location", cmp.Or(to, r.URL.Path))
						w.WriteHeader(status)
					}))
					defer server.Close()

					client := newClient(t, server.URL, authorizedBy(keyCredential{}))
					_, err := send(t.Context(), client, op, transport.Call{})
					if unknown, lost := errors.AsType[*errors.OutcomeUnknown](err); lost {
						err = unknown.Cause
					}
					var unexpected *errors.UnexpectedResponse
					require.ErrorAs(t, err, &unexpected)
					assert.Equal(t, status, unexpected.Status)
					require.Len(t, paths, 2, "the call and its retry")
					assert.Equal(t, paths[0], paths[1])
				})
			}
		}
	}
}

// What the caller's own client would do on redirects or with cookies does not count.
func TestTheGivenClientsRedirectsAndCookiesDoNotCount(t *testing.T) {
	jar := new(jarOfOne)
	var cookies atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		cookies.Add(int32(len(r.Cookies())))
		http.SetCookie(w, &http.Cookie{Name: "session", Value: "1"})
		http.Redirect(w, r, "/v1/elsewhere", http.StatusFound)
	}))
	defer server.Close()
	given := server.Client()
	given.Jar = jar
	given.CheckRedirect = func(*http.Request, []*http.Request) error {
		assert.Fail(t, "asked about a redirect")
		return nil
	}
	client := newClient(t, server.URL, func(c *transport.Config) { c.HTTPClient = given })
	for range 2 {
		_, err := send(t.Context(), client, &readThing, transport.Call{})
		require.Error(t, err)
	}
	assert.Zero(t, cookies.Load())
	assert.Zero(t, jar.asked.Load())
	assert.NotNil(t, given.CheckRedirect, "the caller's client is left as it was")
}

type jarOfOne struct{ asked atomic.Int32 }

func (j *jarOfOne) SetCookies(*url.URL, []*http.Cookie) { j.asked.Add(1) }
func (j *jarOfOne) Cookies(*url.URL) []*http.Cookie {
	j.asked.Add(1)
	return []*http.Cookie{{Name: "session", Value: "1"}}
}
