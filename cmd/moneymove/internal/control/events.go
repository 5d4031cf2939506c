package control

import (
	"bufio"
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/app"
)

// The host sends something at least every 15 seconds. Without a sign of it for three times as long, the connection is
// lost, whatever the network says.
const silence = 45 * time.Second

// The pauses before a new connection.
const (
	shortestPause = 200 * time.Millisecond
	longestPause  = 5 * time.Second
)

// position is where a connection to the events begins.
type position struct {
	after int64  // the id of a request, for the first connection
	event string // the id of the last event, which names the host too
}

// follow calls show with each request after the one with the given id, until ctx ends or show fails. When the
// connection is lost, it calls lost, connects again, and goes on where it was. A host that was started again since
// begins with its first request.
func (c *Client) follow(ctx context.Context, after int64, show func(entry) error, lost func(error)) error {
	pause, told := shortestPause, false
	at := position{after: after}
	for {
		connected, err := c.stream(ctx, &at, show)
		if ctx.Err() != nil {
			return nil //nolint:nilerr // the person has seen enough
		}
		if failure, ok := errors.AsType[*app.Failure](err); !ok || failure.Code != app.ExitUnreachable {
			return err
		}
		if connected {
			pause, told = shortestPause, false
		}
		if !told {
			lost(err)
			told = true
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause):
		}
		pause = min(2*pause, longestPause)
	}
}

// stream shows requests as they come over one connection, and moves the position on. It reports whether there was a
// connection.
func (c *Client) stream(ctx context.Context, at *position, show func(entry) error) (connected bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	quiet := time.AfterFunc(silence, cancel)
	defer quiet.Stop()
	header := http.Header{"Accept": {"text/event-stream"}}
	if at.event != "" {
		header.Set("Last-Event-ID", at.event)
	}
	response, err := c.send(ctx, http.MethodGet, "/events?after="+strconv.FormatInt(at.after, 10), nil, header)
	if err != nil {
		if errors.Is(err, context.Canceled) {
			err = c.lost(http.MethodGet, errSilent)
		}
		return false, err
	}
	defer func() { _ = response.Body.Close() }()
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, 4<<20)
	var event struct {
		id, kind string
		data     []string
	}
	for lines.Scan() {
		quiet.Reset(silence)
		field, value, _ := strings.Cut(lines.Text(), ":")
		value = strings.TrimPrefix(value, " ")
		switch field {
		case "id":
			event.id = value
		case "event":
			event.kind = value
		case "data":
			event.data = append(event.data, value)
		}
		if lines.Text() != "" { // an empty line ends the event
			continue
		}
		if event.kind == "request" {
			e := entry{text: []byte(strings.Join(event.data, "\n"))}
			if err := c.decode(e.text, &e.RequestLine); err != nil {
				return true, err
			}
			at.event = event.id
			if err := show(e); err != nil {
				return true, err
			}
		}
		event.id, event.kind, event.data = "", "", nil
	}
	err = lines.Err()
	if err == nil || errors.Is(err, context.Canceled) {
		err = errSilent
	}
	return true, c.lost(http.MethodGet, err)
}

// errSilent says that a host ended the stream, or sent nothing.
var errSilent = errors.New("the host sends nothing any more")
