package appapi_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/appapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/testkit"
)

// service answers by script, and keeps what it was sent.
type service struct {
	mu      sync.Mutex
	sent    []sentRequest
	answers http.HandlerFunc
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
	s.answers(w, r)
}

func (s *service) requests() []sentRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sent
}

// serve starts a service and makes a client of it that waits little between attempts.
func serve(t *testing.T, answers http.HandlerFunc, options ...moneymovement.Option) (*service, *appapi.Client) {
	t.Helper()
	s := &service{answers: answers}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	app, err := appapi.New(server.URL, appapi.NewAPIKey("secret-key"),
		append([]moneymovement.Option{moneymovement.WithRetries(moneymovement.RetryPolicy{Max: 2,
			WaitMin: time.Millisecond})}, options...)...)
	require.NoError(t, err)
	return s, app
}

func answering(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// losing drops the connection instead of answering.
func losing(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

// No error leaves the SDK that does not answer for its call.
func TestEveryErrorAnswersForItsCall(t *testing.T) {
	for mishap, m := range testkit.Usual() {
		for operation, x := range exchanges() {
			t.Run(mishap+"/"+operation, func(t *testing.T) {
				m.Befall(t, func(t *testing.T, ctx context.Context, next *http.Client) error {
					client, err := appapi.New("https://service.example", appapi.NewAPIKey("secret-key"),
						moneymovement.WithHTTPClient(next))
					require.NoError(t, err)
					if _, err = x.call(ctx, client); err == nil {
						assert.Empty(t, x.answer, "an answer that nobody gave")
					}
					return err
				})
			})
		}
	}
}

// A client that no constructor made, or a call without a context, is refused with the name of what is missing.
func TestCallsThatLackWhatNoCallCanDoWithout(t *testing.T) {
	s, app := serve(t, answering(http.StatusOK, "{}"))
	wallet := new(testkit.Wallet)
	calls := testkit.Surface{
		Makers: "appapi.New", Made: []any{app}, Unmade: []any{new(appapi.Client)},
		Arguments: []any{wallet, appapi.ToQuote{QuoteID: "quote"}},
	}.Test(t)
	assert.Greater(t, calls, 200, "the walk found next to nothing")
	assert.Empty(t, s.requests())
	assert.False(t, wallet.Asked, "nothing is signed for a call that cannot be made")

	for _, client := range []*appapi.Client{nil, new(appapi.Client)} {
		testkit.NoClient(t, client.UseKey(appapi.NewAPIKey("key")), "appapi.New")
	}
	_, err := appapi.New("https://service.example", appapi.APIKey{})
	testkit.Refused(t, err, errors.Field{Field: "apiKey", Code: errors.FieldMissing, Message: "is required"})
	require.ErrorContains(t, err, "New: ")
}
