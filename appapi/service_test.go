package appapi_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/appapi"
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
