package appapi_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/appapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/testkit"
)

func TestAPIKeyIsSentInTheChosenHeader(t *testing.T) {
	_, sent, _ := sendAs(t, appapi.NewAPIKey("secret-key").InKeyHeader(), accountExchanges["GetProfile"])
	assert.Equal(t, []string{"secret-key"}, sent.Header.Values("X-Api-Key"))
	assert.Empty(t, sent.Header.Values("Authorization"))
}

func TestAPIKeyNeverPrints(t *testing.T) {
	key := appapi.NewAPIKey("hush-hush")
	inside := struct {
		Exported   appapi.APIKey
		unexported appapi.APIKey
		pointer    *appapi.APIKey
	}{key, key, &key}
	var printed bytes.Buffer
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d", "%t"} {
		fmt.Fprintf(&printed, verb+"\n"+verb+"\n"+verb+"\n", key, &key, inside)
	}
	for _, value := range []any{key, &key, inside, map[string]any{"key": key}} {
		encoded, err := json.Marshal(value)
		require.NoError(t, err)
		printed.Write(encoded)
	}
	slog.New(slog.NewTextHandler(&printed, nil)).Info("made", "key", key, "inside", inside)
	slog.New(slog.NewJSONHandler(&printed, nil)).Info("made", "key", key, "inside", inside)
	app, err := appapi.New("https://service.example", key)
	require.NoError(t, err)
	fmt.Fprintf(&printed, "%v %+v %#v", app, *app, app)

	assert.Contains(t, printed.String(), "[redacted]")
	for _, trace := range []string{"hush", fmt.Sprintf("%x", "hush"), "Bearer"} {
		assert.NotContains(t, printed.String(), trace)
	}
	assert.Equal(t, "[none]", appapi.APIKey{}.String())
}

func TestAPIKeyIsNotSentToAnotherOrigin(t *testing.T) {
	var elsewhere atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) }))
	defer other.Close()
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL+r.URL.Path, http.StatusTemporaryRedirect)
	}))
	defer origin.Close()
	key := appapi.NewAPIKey("secret-key")
	for name, key := range map[string]appapi.APIKey{"bearer": key, "header": key.InKeyHeader()} {
		app, err := appapi.New(origin.URL, key)
		require.NoError(t, err)
		_, err = app.Account.Profile(t.Context())
		unexpected, is := errors.AsType[*errors.UnexpectedResponse](err)
		require.True(t, is, "%s: %v", name, err)
		assert.Equal(t, http.StatusTemporaryRedirect, unexpected.Status)
	}
	assert.Zero(t, elsewhere.Load(), "redirects are not followed")
}

func TestInvalidClientArgumentsAreRefused(t *testing.T) {
	good := appapi.NewAPIKey("k")
	for name, c := range map[string]struct {
		baseURL     string
		key         appapi.APIKey
		field, code string
	}{
		"no key":       {"https://host.example", appapi.APIKey{}, "apiKey", "missing"},
		"an empty key": {"https://host.example", appapi.NewAPIKey(""), "apiKey", "missing"},
		"a key with a break": {"https://host.example", appapi.NewAPIKey("k\r\nX-Service-Account: cl_1"), "apiKey",
			"pattern"},
		"a key with a space": {"https://host.example", appapi.NewAPIKey("k "), "apiKey", "pattern"},
		"a key beyond ASCII": {"https://host.example", appapi.NewAPIKey("clé"), "apiKey", "pattern"},
		"a key without end": {"https://host.example", appapi.NewAPIKey(strings.Repeat("k", 64<<10+1)), "apiKey",
			"too_long"},
		"no base URL":           {"", good, "baseURL", "invalid_url"},
		"plain http":            {"http://host.example", good, "baseURL", "https_required"},
		"a URL with a password": {"https://a:b@host.example", good, "baseURL", "invalid_url"},
	} {
		t.Run(name, func(t *testing.T) {
			app, err := appapi.New(c.baseURL, c.key, nil)
			assert.Nil(t, app)
			refused, is := errors.AsType[*errors.InvalidInput](err)
			require.True(t, is, "%v", err)
			require.Len(t, refused.Fields, 1)
			assert.Equal(t, c.field, refused.Fields[0].Field)
			assert.Equal(t, c.code, refused.Fields[0].Code)
			assert.NotContains(t, err.Error(), "X-Service-Account")
		})
	}
}

// A key cannot be renewed: what the service says about it is the response, after one request.
func TestARefusedKeyIsNotSentAgain(t *testing.T) {
	for _, slug := range []string{"unauthenticated", "token_expired", "forbidden"} {
		status := map[bool]int{true: http.StatusForbidden, false: http.StatusUnauthorized}[slug == "forbidden"]
		server, app := serve(t, responding(status, `{"error":{"code":"`+slug+`","message":"no"}}`))
		_, err := app.Transfers.Send(t.Context(), appapi.ToQuote{QuoteID: "q_1"}, "rent-1")
		refusal, is := errors.AsType[*errors.Refusal](err)
		require.True(t, is, "%v", err)
		assert.Equal(t, errors.Code(slug), refusal.Code)
		assert.Equal(t, errors.NotMoved, refusal.MovedByCall())
		assert.Len(t, server.requests(), 1)
	}
}

// A call under way ends with the key that it began with, also when it is sent again.
// What a change's response did not show is read with the key of the change: another key can be of another account.
func TestReadAfterAWriteUsesTheSameKey(t *testing.T) {
	var carried []string
	var app *appapi.Client
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		carried = append(carried, r.Method+" "+r.Header.Get("Authorization"))
		if r.Method != http.MethodGet {
			assert.NoError(t, app.UseKey(appapi.NewAPIKey("second")))
			w.WriteHeader(http.StatusNoContent)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"id":"card-1"}`))
	}))
	defer server.Close()
	var err error
	app, err = appapi.New(server.URL, appapi.NewAPIKey("first"))
	require.NoError(t, err)
	card, err := app.Cards.SetLabel(t.Context(), "card-1", "travel")
	require.NoError(t, err)
	assert.Equal(t, "card-1", card.ID)
	_, err = app.Cards.Get(t.Context(), "card-1")
	require.NoError(t, err)
	assert.Equal(t, []string{"PUT Bearer first", "GET Bearer first", "GET Bearer second"}, carried)
}

func TestNewKeyAppliesToLaterCalls(t *testing.T) {
	for name, c := range map[string]struct {
		key    func(string) appapi.APIKey
		header string
		first  string
		second string
	}{
		"bearer": {appapi.NewAPIKey, "Authorization", "Bearer first", "Bearer second"},
		"key header": {func(key string) appapi.APIKey { return appapi.NewAPIKey(key).InKeyHeader() }, "X-Api-Key",
			"first", "second"},
	} {
		t.Run(name, func(t *testing.T) {
			var carried []string
			var app *appapi.Client
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if carried = append(carried, r.Header.Get(c.header)); len(carried) == 1 {
					assert.NoError(t, app.UseKey(c.key("second")))
					w.WriteHeader(http.StatusServiceUnavailable)
					return
				}
				w.Header().Set("Content-Type", "application/json")
				_, _ = w.Write([]byte(`{"id":"x_1"}`))
			}))
			defer server.Close()
			var err error
			app, err = appapi.New(server.URL, c.key("first"),
				moneymovement.WithRetries(moneymovement.RetryPolicy{WaitMin: 1}))
			require.NoError(t, err)
			for range 2 {
				_, err = app.Account.Profile(t.Context())
				require.NoError(t, err)
			}
			assert.Equal(t, []string{c.first, c.first, c.second}, carried)

			for _, bad := range []appapi.APIKey{{}, appapi.NewAPIKey("a b")} {
				refused, is := errors.AsType[*errors.InvalidInput](app.UseKey(bad))
				require.True(t, is)
				assert.Equal(t, "UseKey", refused.Operation)
			}
			_, err = app.Account.Profile(t.Context())
			require.NoError(t, err)
			assert.Equal(t, c.second, carried[3], "a key that is refused changes nothing")
		})
	}
}

// service responds by script, and keeps what it was sent.
type service struct {
	mu      sync.Mutex
	sent    []sentRequest
	respond http.HandlerFunc
}

type sentRequest struct {
	what   string // such as "GET /cards?limit=1"
	body   string
	header http.Header
}

func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	s.sent = append(s.sent, sentRequest{r.Method + " " + r.URL.RequestURI(), string(body), r.Header})
	s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Request-ID", "req_1")
	s.respond(w, r)
}

func (s *service) requests() []sentRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sent
}

// serve starts a service and makes a client of it that waits little between attempts.
func serve(t *testing.T, respond http.HandlerFunc, options ...moneymovement.Option) (*service, *appapi.Client) {
	t.Helper()
	s := &service{respond: respond}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	app, err := appapi.New(server.URL, appapi.NewAPIKey("secret-key"),
		append([]moneymovement.Option{moneymovement.WithRetries(moneymovement.RetryPolicy{Max: 2,
			WaitMin: time.Millisecond})}, options...)...)
	require.NoError(t, err)
	return s, app
}

func responding(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// losing drops the connection instead of responding.
func losing(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

// No error leaves the SDK that does not implement errors.Failure.
func TestEveryErrorIsAFailureOfItsCall(t *testing.T) {
	for fault, m := range testkit.CommonFaults() {
		for operation, x := range exchanges() {
			t.Run(fault+"/"+operation, func(t *testing.T) {
				m.CheckCall(t, func(t *testing.T, ctx context.Context, next *http.Client) error {
					client, err := appapi.New("https://service.example", appapi.NewAPIKey("secret-key"),
						moneymovement.WithHTTPClient(next))
					require.NoError(t, err)
					if _, err = x.call(ctx, client); err == nil {
						assert.Empty(t, x.response, "a response that was not sent")
					}
					return err
				})
			})
		}
	}
}

// A client that no constructor made, or a call without a context, is refused with the name of what is missing.
func TestNilContextAndZeroClientAreRefused(t *testing.T) {
	s, app := serve(t, responding(http.StatusOK, "{}"))
	wallet := new(testkit.Wallet)
	calls := testkit.Surface{
		Constructors: "appapi.New", Clients: []any{app}, ZeroClients: []any{new(appapi.Client)},
		Arguments: []any{wallet, appapi.ToQuote{QuoteID: "quote"}},
	}.Test(t)
	assert.Greater(t, calls, 200, "the walk found next to nothing")
	assert.Empty(t, s.requests())
	assert.False(t, wallet.Asked, "nothing is signed for a call that cannot be made")

	for _, client := range []*appapi.Client{nil, new(appapi.Client)} {
		testkit.CheckNoClient(t, client.UseKey(appapi.NewAPIKey("key")), "appapi.New")
	}
	_, err := appapi.New("https://service.example", appapi.APIKey{})
	testkit.CheckRefused(t, err, errors.Field{Field: "apiKey", Code: errors.FieldMissing, Message: "is required"})
	require.ErrorContains(t, err, "New: ")
}

// The log shows which key a call used, and nothing of the key.
func TestLogNamesTheAPIKey(t *testing.T) {
	for key, want := range map[string]string{
		"sk_0123456789abcdefghij": "keyFingerprint=" + fmt.Sprintf("SHA256:%x",
			sha256.Sum256([]byte("sk_0123456789abcdefghij")))[:23],
		"sk_short": "",
	} {
		var log bytes.Buffer
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"items":[]}`)
		}))
		client, err := appapi.New(server.URL, appapi.NewAPIKey(key).InKeyHeader(), moneymovement.WithLogger(
			slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))))
		require.NoError(t, err)
		_, err = client.Account.Balances(t.Context())
		server.Close()
		require.NoError(t, err)
		assert.Contains(t, log.String(), "operation=ListBalances")
		assert.Contains(t, log.String(), want)
		assert.Equal(t, want != "", strings.Contains(log.String(), "keyFingerprint"))
		assert.NotContains(t, log.String(), "sk_")
	}
}
