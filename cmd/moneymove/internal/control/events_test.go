package control_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/app"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/control"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

// Each request is shown once, whatever happens to the connection. The requests of a host that is started again have the
// same ids as those of the host before, and are shown too.
func TestRequestsAreFollowed(t *testing.T) {
	t.Parallel()
	var running atomic.Pointer[sandbox.Host]
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		running.Load().ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	begin := func() served {
		host := sandbox.New(sandbox.WithControl())
		running.Store(host)
		server.CloseClientConnections()
		return served{host, server.URL}
	}

	host := begin()
	host.get(t, "/utils/rates/EUR")
	host.get(t, "/utils/rates/GBP")
	out, in := io.Pipe()
	a := &app.App{In: strings.NewReader(""), Out: in, Err: in, Terminal: true, Getenv: func(name string) string {
		return map[string]string{control.URLVariable: server.URL + "/_host", "NO_COLOR": "1"}[name]
	}}
	tooLate := time.AfterFunc(time.Minute, func() { _ = in.CloseWithError(errors.New("nothing more was written")) })
	defer tooLate.Stop()
	ctx, stop := context.WithCancel(t.Context())
	code := make(chan int, 1)
	go func() { code <- a.Run(ctx, root(a), []string{"requests", "-f", "-n", "1"}) }()
	lines := bufio.NewScanner(out)
	shows := func(text string) {
		t.Helper()
		require.True(t, lines.Scan(), "%s: %v", text, lines.Err())
		require.Contains(t, lines.Text(), text)
	}
	const lost = "waiting for the host"
	shows("/utils/rates/GBP")
	host.get(t, "/utils/rates/USD")
	shows("/utils/rates/USD")

	server.CloseClientConnections()
	shows(lost)
	host.get(t, "/utils/rates/CHF")
	shows("/utils/rates/CHF")

	host = begin()
	shows(lost)
	for range 5 { // more than the host before had
		host.get(t, "/utils/rates/JPY")
	}
	for range 5 {
		shows("/utils/rates/JPY")
	}
	host.get(t, "/utils/rates/EUR")
	shows("/utils/rates/EUR")
	stop()
	assert.Equal(t, app.ExitFine, <-code)
}
