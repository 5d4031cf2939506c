package control

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/app"
	"github.com/moneymovement/moneymovement-go/internal/testkit"
)

// request makes a request that the host refuses.
func request(t *testing.T, address, method, path, key string) {
	t.Helper()
	made, err := http.NewRequestWithContext(t.Context(), method, address+path, nil)
	require.NoError(t, err)
	if key != "" {
		made.Header.Set("Idempotency-Key", key)
	}
	response, err := http.DefaultClient.Do(made)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
}

func TestRequestLog(t *testing.T) {
	for name, c := range map[string]struct {
		flags []string
		want  string
	}{
		"short": {nil, `^200  GET     /utils/rates/EUR\n401  POST    /dapi/v1/payouts +unauthenticated\n$`},
		"verbose": {[]string{"-v"}, `^200  \d\d:\d\d:\d\d\.\d{3}  GET     /utils/rates/EUR\n` +
			`401  \d\d:\d\d:\d\d\.\d{3}  POST    /dapi/v1/payouts +unauthenticated  key=invoice-42\n$`},
		"quiet":                         {[]string{"-q"}, `^$`},
		"without those of -seed":        {[]string{"-seed", "-instant"}, `^200  GET .*\n401  POST .*\n$`},
		"without those of the controls": {[]string{"-control"}, `^200  GET .*\n401  POST .*\n$`},
	} {
		t.Run(name, func(t *testing.T) {
			var stderr bytes.Buffer // which the command has written when it has ended
			stdout, stop := startWith(t, &stderr, append([]string{"-o", "json"}, c.flags...)...)
			a := announced(t, stdout)
			request(t, a.BaseURL, http.MethodGet, "/utils/rates/EUR", "")
			request(t, a.BaseURL, http.MethodPost, "/dapi/v1/payouts", "invoice-42")
			if a.ControlURL != "" {
				request(t, a.ControlURL, http.MethodGet, "/clock", "")
			}
			require.Equal(t, app.ExitFine, stop())
			assert.Regexp(t, c.want, strings.TrimSuffix(stderr.String(), "moneymove: stopping\n"))
		})
	}
}

// A terminal that takes nothing does not stop the host, and the command ends.
func TestStoppedTerminalDoesNotBlockRequests(t *testing.T) {
	testkit.Long(t, "waits for more than a second")
	reader, stopped := io.Pipe() // nobody reads it
	defer reader.Close()
	stdout, stop := startWith(t, stopped, "-o", "json")
	a := announced(t, stdout)
	for range 50 {
		request(t, a.BaseURL, http.MethodGet, "/utils/rates/EUR", "")
	}
	assert.Equal(t, app.ExitFine, stop())
}

// gated takes lines once it is open.
type gated struct {
	open    chan struct{}
	written bytes.Buffer
}

func (g *gated) Write(text []byte) (int, error) {
	<-g.open
	return g.written.Write(text)
}

func TestDroppedLinesAreCounted(t *testing.T) {
	out := &gated{open: make(chan struct{})}
	w := newLineWriter(out)
	const more = 123
	w.add("first\n")
	require.Eventually(t, func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		return len(w.lines) == 0 // the writer waits with it for the terminal
	}, time.Minute, time.Millisecond)
	for i := range mostLines + more {
		w.add(fmt.Sprintf("%d\n", i))
	}
	close(out.open)
	w.close()
	w.add("too late\n")
	lines := strings.Split(strings.TrimSuffix(out.written.String(), "\n"), "\n")
	require.Equal(t, mostLines+2, len(lines)) //nolint:testifylint // Len would print them all
	assert.Equal(t, "first", lines[0])
	for i, line := range lines[1 : mostLines+1] {
		require.Equal(t, fmt.Sprint(i), line)
	}
	assert.Contains(t, lines[mostLines+1], "123 lines are left out")
}

func TestLinesOfManyCallersAreWhole(t *testing.T) {
	var out bytes.Buffer
	w := newLineWriter(&out)
	var wait sync.WaitGroup
	for caller := range 8 {
		wait.Go(func() {
			for i := range 200 {
				w.add(fmt.Sprintf("caller %d line %d\n", caller, i))
			}
		})
	}
	wait.Wait()
	w.close()
	next := map[int]int{}
	for line := range strings.Lines(out.String()) {
		var caller, i int
		_, err := fmt.Sscanf(line, "caller %d line %d\n", &caller, &i)
		require.NoError(t, err, line)
		assert.Equal(t, next[caller], i)
		next[caller]++
	}
	assert.Len(t, next, 8)
}
