package sandbox

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/moneymovement/moneymovement-go/sandbox/deployment"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/gate"
)

const (
	// heartbeat is how often a listener hears something, so that both sides notice a broken connection.
	heartbeat = 15 * time.Second
	// lookEvery is how often a listener looks for changes that no request and no control made. The host does a step
	// that is due only when somebody looks.
	lookEvery = time.Second
	// eventTime is how long a listener may take to receive what is sent at once. A slower one is dropped.
	eventTime = 10 * time.Second
)

// listen sends requests and changes until the listener leaves. It waits for nobody: it reads the log, as any caller of
// the list does, whenever something happened. So a listener that is slow misses what the log forgets meanwhile.
func (c control) listen(w http.ResponseWriter, r *http.Request) {
	after, err := c.startOf(r)
	if err != nil {
		respondWith(func(*http.Request) (int, any, error) { return 0, nil, err })(w, r)
		return
	}
	log := c.host.log
	woken, stop := log.Listen()
	defer stop()
	known := c.marks()

	stream := &eventStream{w: w, connection: http.NewResponseController(w)}
	_ = stream.connection.SetReadDeadline(time.Time{}) // a server's ReadTimeout would end the request
	header := w.Header()
	header.Set("Content-Type", "text/event-stream")
	header.Set("Cache-Control", "no-store")
	header.Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)
	stream.text("retry: 1000\n\n")
	stream.host(log, known.log)

	look, silent := time.NewTicker(lookEvery), time.NewTicker(heartbeat)
	defer look.Stop()
	defer silent.Stop()
	for stream.flush() == nil {
		now := c.marks()
		var entries []gate.Entry
		now.log, entries = log.News(after)
		if now.log != known.log { // first: a listener forgets its requests at a reset
			stream.host(log, now.log)
		}
		for _, what := range now.differFrom(known) {
			stream.event("change", "", map[string]string{"what": what})
		}
		known = now
		if len(entries) > 0 {
			mask := c.mask()
			for _, entry := range entries {
				after = entry.ID
				stream.event("request", eventID(now.log, after), c.viewOfRequest(mask, entry))
			}
		}
		if stream.pending {
			continue // what was made meanwhile is sent before the next wait
		}
		select {
		case <-r.Context().Done():
			return
		case <-woken:
		case <-look.C:
		case <-silent.C:
			stream.text(": the host is there\n\n")
		}
	}
}

// eventID is the id of the event about a request. It names the log too: a host that is started again numbers its
// requests from 1.
func eventID(log string, request int) string { return log + "-" + strconv.Itoa(request) }

// startOf returns the number of the request after which the stream begins: that of the header of a connection that was
// lost, or of the query, or of the latest request.
func (c control) startOf(r *http.Request) (int, error) {
	log := c.host.log
	if seen := r.Header.Get("Last-Event-ID"); seen != "" {
		id, number, _ := strings.Cut(seen, "-")
		if after, err := strconv.Atoi(number); err == nil && id == log.ID() {
			return after, nil
		}
		return 0, nil // an event of another log: all requests of this one are new
	}
	last := log.Last()
	if !r.URL.Query().Has("after") {
		return last, nil
	}
	after, err := countOf(r, "after", "after is the id of a request.")
	if after > last { // an id of a host that was started again since
		after = 0
	}
	return after, err
}

// marks are numbers and pointers that differ after a change.
type marks struct {
	log                  string // another id after a reset
	ledger, faults, keys int64
	advanced             time.Duration
	settings             *deployment.Settings
}

func (c control) marks() marks {
	h := c.host
	return marks{
		log: h.log.ID(), ledger: h.operator().Revision(), faults: h.faults.Revision(),
		keys: h.registry.Revision() + h.appKeys.Revision(), advanced: h.clock.Advanced(), settings: h.configured.get(),
	}
}

// differFrom lists what has changed. After a reset, that is everything.
func (m marks) differFrom(before marks) []string {
	var list []string
	for _, change := range []struct {
		what    string
		changed bool
	}{
		{"reset", m.log != before.log},
		{"clock", m.advanced != before.advanced},
		{"settings", m.settings != before.settings},
		{"faults", m.faults != before.faults},
		{"ledger", m.ledger != before.ledger},
		{"keys", m.keys != before.keys},
	} {
		if change.changed {
			list = append(list, change.what)
		}
	}
	return list
}

// eventStream writes server-sent events.
type eventStream struct {
	w          http.ResponseWriter
	connection *http.ResponseController
	pending    bool // something was written since the last flush
	failed     error
}

func (s *eventStream) text(text string) {
	if !s.pending { // the deadline of a usual response would end the stream
		_ = s.connection.SetWriteDeadline(time.Now().Add(eventTime)) // a writer that cannot is no connection's
	}
	s.pending = true
	if _, err := fmt.Fprint(s.w, text); err != nil {
		s.failed = err
	}
}

// host writes what a listener must know about the log to put requests in their place.
func (s *eventStream) host(log *gate.Log, id string) {
	s.event("host", "", struct {
		ID     string `json:"id"`
		Latest int    `json:"latest"` // the number of the latest request, or 0
	}{id, log.Last()})
}

// event writes an event, with an id unless that is empty.
func (s *eventStream) event(name, id string, data any) {
	text, err := json.Marshal(data, json.Deterministic(true))
	if err != nil {
		s.failed = err
		return
	}
	if id != "" {
		id = "id: " + id + "\n"
	}
	s.text("event: " + name + "\n" + id + "data: " + string(text) + "\n\n")
}

// flush sends what was written. It returns an error once the listener is gone.
func (s *eventStream) flush() error {
	if !s.pending || s.failed != nil {
		return s.failed
	}
	s.pending = false
	s.failed = s.connection.Flush()
	_ = s.connection.SetWriteDeadline(time.Time{}) // until the next event
	return s.failed
}
