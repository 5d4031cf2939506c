package postgres_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"riverqueue.com/riverui"

	"github.com/moneymovement/moneymovement-go/payments"
	"github.com/moneymovement/moneymovement-go/payments/console"
	"github.com/moneymovement/moneymovement-go/payments/postgres"
)

// operatorPages serves the console of the payments, and River's page of the jobs beside it, both behind one login.
func operatorPages(
	ctx context.Context, processor *payments.Processor, jobs *river.Client[pgx.Tx], logger *slog.Logger,
	author func(*http.Request) (string, error), loggedIn func(http.Handler) http.Handler,
) (http.Handler, error) {
	payments, err := console.New(console.Config{Processor: processor, Author: author, Logger: logger})
	if err != nil {
		return nil, err
	}
	river, err := riverui.NewHandler(&riverui.HandlerOpts{
		Endpoints: riverui.NewEndpoints(jobs, nil), Prefix: "/ops/river", Logger: logger})
	if err != nil {
		return nil, err
	}
	if err := river.Start(ctx); err != nil { // it stops when ctx ends
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("/ops/payments/", loggedIn(http.StripPrefix("/ops/payments", payments)))
	mux.Handle("/ops/river/", loggedIn(river)) // it has no login of its own
	return mux, nil
}

// River's page shows the jobs, and the console the payments. Both are behind the company's login.
func TestRiversPageBesideTheConsole(t *testing.T) {
	w := newWorld(t, shared.PostgreSQL(t))
	options := postgres.Options{Jobs: &postgres.Jobs{}}
	pays := w.resumed(options, payments.Config{PollEvery: never})
	jobs := w.river(pays, queues(postgres.DefaultQueue))
	w.submit(pays, "invoice-1")
	author := func(r *http.Request) (string, error) { return r.Header.Get("X-User"), nil }
	loggedIn := func(page http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("X-User") == "" {
				http.Error(w, "log in", http.StatusUnauthorized)
				return
			}
			page.ServeHTTP(w, r)
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	handler, err := operatorPages(ctx, pays.processor, jobs, slog.New(slog.DiscardHandler), author, loggedIn)
	require.NoError(t, err)
	server := httptest.NewServer(handler)
	defer server.Close()
	read := func(as, path string) (int, string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+path, http.NoBody)
		require.NoError(t, err)
		r.Header.Set("X-User", as)
		response, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		return response.StatusCode, string(body)
	}
	for _, path := range []string{"/ops/payments/?state=all", "/ops/river/", "/ops/river/api/jobs"} {
		status, body := read("", path)
		assert.Equal(t, http.StatusUnauthorized, status, path)
		assert.NotContains(t, body, "invoice-1")
	}
	status, body := read("Ada", "/ops/payments/?state=all")
	assert.Equal(t, http.StatusOK, status)
	assert.Contains(t, body, "payment?key=invoice-1")
	status, body = read("Ada", "/ops/river/api/jobs?kinds="+postgres.Wake{}.Kind()+"&state=completed")
	assert.Equal(t, http.StatusOK, status, body)
	require.Eventually(t, func() bool { // the client notes its queues after its start
		status, body := read("Ada", "/ops/river/api/queues?limit=20")
		return status == http.StatusOK && strings.Contains(body, `"`+postgres.DefaultQueue+`"`)
	}, time.Minute, 50*time.Millisecond)
	status, body = read("Ada", "/ops/river/")
	assert.Equal(t, http.StatusOK, status)
	assert.Contains(t, body, "<html")
}
