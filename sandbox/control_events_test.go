package sandbox_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/sandbox"
)

// event is a server-sent event.
type event struct {
	id, name string
	data     object
}

// listener reads the events of a host. Each read waits, and the end of the test ends the wait.
type listener struct {
	t     *testing.T
	lines *bufio.Scanner
	stop  func()
}

// listenTo connects to the events, with the header Last-Event-ID unless that is empty.
func listenTo(t *testing.T, w *world, query, lastID string) *listener {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	t.Cleanup(stop) // before the server closes, which waits for its connections
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, w.server.URL+"/_host/events"+query, http.NoBody)
	require.NoError(t, err)
	if lastID != "" {
		request.Header.Set("Last-Event-ID", lastID)
	}
	response, err := w.server.Client().Do(request)
	require.NoError(t, err)
	t.Cleanup(func() { _ = response.Body.Close() })
	require.Equal(t, http.StatusOK, response.StatusCode)
	require.Equal(t, "text/event-stream", response.Header.Get("Content-Type"))
	return &listener{t: t, lines: bufio.NewScanner(response.Body), stop: stop}
}

// next waits for the next event.
func (l *listener) next() event {
	l.t.Helper()
	var e event
	for l.lines.Scan() {
		field, value, _ := strings.Cut(l.lines.Text(), ": ")
		switch field {
		case "id":
			e.id = value
		case "event":
			e.name = value
		case "data":
			require.NoError(l.t, json.Unmarshal([]byte(value), &e.data))
		case "":
			if e.name != "" {
				return e
			}
		}
	}
	require.Fail(l.t, "the stream ended", "%v", l.lines.Err())
	return e
}

// begin reads the first event of a connection: the host's, and the number of its latest request.
func (l *listener) begin(latest int) (host string) {
	l.t.Helper()
	first := l.next()
	require.Equal(l.t, "host", first.name)
	assert.Empty(l.t, first.id)
	assert.EqualValues(l.t, latest, first.data.at("latest"))
	assert.NotEmpty(l.t, first.data.text("id"))
	return first.data.text("id")
}

// paths reads as many requests, and returns their paths.
func (l *listener) paths(n int) []string {
	l.t.Helper()
	paths := make([]string, n)
	for i := range paths {
		e := l.next()
		require.Equal(l.t, "request", e.name)
		paths[i] = e.data.text("path")
	}
	return paths
}

func (w *world) rate(currency string) {
	w.t.Helper()
	require.Equal(w.t, http.StatusOK, w.call("GET", "/utils/rates/"+currency, nil).status)
}

func TestEventStream(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sandbox.WithControl())
	w.rate("EUR")
	l := listenTo(t, w, "", "")
	l.begin(1)
	w.rate("GBP")
	sent := l.next()
	assert.Equal(t, "request", sent.name)
	assert.Equal(t, "/utils/rates/GBP", sent.data.text("path"), "the first was before")
	assert.True(t, strings.HasSuffix(sent.id, "-2"), sent.id)
	w.call("POST", "/_host/clock", object{"advance": "61s"})
	assert.Equal(t, event{name: "change", data: object{"what": "clock"}}, l.next())
}

func TestEventStreamFromFirstRequest(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sandbox.WithControl())
	w.rate("EUR")
	w.rate("GBP")
	l := listenTo(t, w, "?after=0", "")
	l.begin(2)
	assert.Equal(t, []string{"/utils/rates/EUR", "/utils/rates/GBP"}, l.paths(2))
	l = listenTo(t, w, "?after=1", "")
	l.begin(2)
	assert.Equal(t, []string{"/utils/rates/GBP"}, l.paths(1))
	l = listenTo(t, w, "?after=3", "")
	l.begin(2)
	assert.Len(t, l.paths(2), 2, "an id of another host")
	assert.Equal(t, map[string]string{"after": "greater_than_equal"},
		w.call("GET", "/_host/events?after=-1", nil).fields())
}

// listenOnce makes a request, and listens until its event has come. It returns the ids of the host and of the event.
func (w *world) listenOnce(t *testing.T) (host, last string) {
	t.Helper()
	w.rate("EUR")
	l := listenTo(t, w, "?after=0", "")
	defer l.stop()
	return l.begin(1), l.next().id
}

// A client that connects again gets the events after the last one that it received.
func TestEventStreamResumes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sandbox.WithControl())
	id, last := w.listenOnce(t)
	w.rate("GBP")
	l := listenTo(t, w, "?after=0", last)
	assert.Equal(t, id, l.begin(2))
	assert.Equal(t, []string{"/utils/rates/GBP"}, l.paths(1))
}

// Another host numbers its requests in the same way. The client must not take them for requests that it has seen.
func TestEventStreamAfterRestart(t *testing.T) {
	t.Parallel()
	id, last := newWorld(t, sandbox.WithControl()).listenOnce(t)
	w := newWorld(t, sandbox.WithControl())
	w.rate("GBP")
	w.rate("USD")
	for _, unknown := range []string{last, "1", "no id"} {
		l := listenTo(t, w, "", unknown)
		assert.NotEqual(t, id, l.begin(2))
		assert.Equal(t, []string{"/utils/rates/GBP", "/utils/rates/USD"}, l.paths(2), unknown)
	}
}

// A client that was not connected during a reset detects it by the id of the log.
func TestEventStreamAfterReset(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sandbox.WithControl())
	id, last := w.listenOnce(t)
	w.host.Reset()
	w.rate("GBP")
	l := listenTo(t, w, "?after=0", last)
	assert.NotEqual(t, id, l.begin(2))
	assert.Equal(t, []string{"/utils/rates/GBP"}, l.paths(1))
}

// slowWriter is a connection that takes nothing until it is released.
type slowWriter struct {
	header          http.Header
	flushed, resume chan struct{}

	mu   sync.Mutex
	text strings.Builder
}

func (w *slowWriter) Header() http.Header { return w.header }
func (w *slowWriter) WriteHeader(int)     {}

func (w *slowWriter) Write(part []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.Write(part)
}

func (w *slowWriter) Flush() {
	w.flushed <- struct{}{}
	<-w.resume
}

// names are those of the events until now.
func (w *slowWriter) names() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var names []string
	for line := range strings.Lines(w.text.String()) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "event: "); ok {
			names = append(names, name)
		}
	}
	return names
}

// A client forgets its requests at a reset. So the reset event must come before later requests.
func TestResetEventComesBeforeLaterEvents(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sandbox.WithControl())
	slow := &slowWriter{header: http.Header{}, flushed: make(chan struct{}), resume: make(chan struct{})}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		request := httptest.NewRequestWithContext(ctx, http.MethodGet, "http://127.0.0.1/_host/events", http.NoBody)
		request.RemoteAddr = "127.0.0.1:4321"
		w.host.ServeHTTP(slow, request)
	}()
	<-slow.flushed
	w.rate("EUR")
	w.host.Reset()
	w.rate("GBP")
	slow.resume <- struct{}{}
	<-slow.flushed
	names := slow.names()
	require.NotEmpty(t, names)
	assert.Equal(t, []string{"host", "host", "change"}, names[:3], "the connection, and the reset")
	assert.Equal(t, "request", names[len(names)-1], "after every change: %v", names)
	stop()
	close(slow.resume)
	<-ended
}
