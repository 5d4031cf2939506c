package control_test

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/app"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/control"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

// growing is what a running command wrote until now.
type growing struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (g *growing) Write(part []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.text.Write(part)
}

func (g *growing) String() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.text.String()
}

// paths are the paths of the requests that were written, in their order.
func (g *growing) paths() []string {
	var paths []string
	for line := range strings.Lines(g.String()) {
		paths = append(paths, strings.Fields(line)[1])
	}
	return paths
}

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
	var out, said growing
	a := &app.App{In: strings.NewReader(""), Out: &out, Err: &said, Terminal: true, Getenv: func(name string) string {
		return map[string]string{control.URLVariable: server.URL + "/_host", "NO_COLOR": "1"}[name]
	}}
	ctx, stop := context.WithCancel(t.Context())
	code := make(chan int, 1)
	go func() { code <- a.Run(ctx, root(a), []string{"requests", "-f", "-n", "1"}) }()
	shown := func(want ...string) {
		t.Helper()
		require.EventuallyWithT(t, func(c *assert.CollectT) {
			assert.Equal(c, want, out.paths())
		}, 30*time.Second, 10*time.Millisecond, "%s", said.String())
	}
	shown("/utils/rates/GBP")
	host.get(t, "/utils/rates/USD")
	shown("/utils/rates/GBP", "/utils/rates/USD")

	server.CloseClientConnections()
	host.get(t, "/utils/rates/CHF")
	shown("/utils/rates/GBP", "/utils/rates/USD", "/utils/rates/CHF")
	assert.Contains(t, said.String(), "waiting for the host")

	host = begin()
	for range 5 { // more than the host before had
		host.get(t, "/utils/rates/JPY")
	}
	const again = "/utils/rates/JPY"
	shown("/utils/rates/GBP", "/utils/rates/USD", "/utils/rates/CHF", again, again, again, again, again)
	stop()
	assert.Equal(t, app.ExitFine, <-code, said.String())
}
