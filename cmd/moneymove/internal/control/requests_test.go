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

func TestLines(t *testing.T) {
	at := time.Date(2026, 5, 1, 12, 0, 0, 123_000_000, time.FixedZone("", 3600))
	paid := control.RequestLine{
		Time: at, Method: "POST", Path: "/dapi/v1/payouts", Status: 201, Account: "cl_1", IdempotencyKey: "invoice-42",
		Replayed: true, Repeated: true, Fault: "duplicate",
	}
	refused := control.RequestLine{Time: at, Method: "DELETE", Path: "/x", Status: 409, Slug: "conflict"}
	lost := control.RequestLine{Time: at, Method: "GET", Path: "/dapi/v1/chains", Fault: "drop_before"}
	short, verbose := control.LineStyle{}, control.LineStyle{Verbose: true}
	assert.Equal(t, []string{
		"201  POST    /dapi/v1/payouts",
		"409  DELETE  /x                                            conflict",
		"---  GET     /dapi/v1/chains                               no response",
	}, []string{short.Line(paid), short.Line(refused), short.Line(lost)})
	assert.Equal(t, []string{
		"201  11:00:00.123  POST    /dapi/v1/payouts                              " +
			"account=cl_1  key=invoice-42  replayed  repeated  fault=duplicate",
		"409  11:00:00.123  DELETE  /x                                            conflict",
		"---  11:00:00.123  GET     /dapi/v1/chains                               no response  fault=drop_before",
	}, []string{verbose.Line(paid), verbose.Line(refused), verbose.Line(lost)})
}

func TestColorsOfStatuses(t *testing.T) {
	for status, color := range map[int]string{200: "\x1b[32m200", 302: "\x1b[32m302", 404: "\x1b[33m404",
		503: "\x1b[31m503", 0: "\x1b[31m---"} {
		e := control.RequestLine{Method: "GET", Path: "/", Status: status}
		assert.Contains(t, control.LineStyle{Colors: true}.Line(e), color+"\x1b[0m")
		assert.NotContains(t, control.LineStyle{}.Line(e), "\x1b")
	}
}

// What a caller wrote moves no cursor, changes no color and reverses no line.
func TestRequestLinesAreEscaped(t *testing.T) {
	hostile := "a\x1b[2J\r\n\u009b31m\u202eb\u2028"
	line := control.LineStyle{Verbose: true}.Line(control.RequestLine{
		Method: hostile, Path: hostile, Status: 200, Slug: hostile, Account: hostile, IdempotencyKey: hostile,
		Fault: hostile,
	})
	assert.False(t, strings.ContainsAny(line, "\x1b\r\n\u009b\u202e\u2028"), "%q", line)
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
