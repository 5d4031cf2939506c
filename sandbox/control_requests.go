package sandbox

import (
	"bytes"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/moneymovement/moneymovement-go/sandbox/deployment"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/gate"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
)

// requestView is a request in JSON.
type requestView struct {
	gate.Entry
	DurationMs float64           `json:"durationMs"`
	Do         string            `json:"do,omitzero"` // what to do about the slug
	Request    *gate.MessageView `json:"request,omitzero"`
	Response   *gate.MessageView `json:"response,omitzero"`
}

// viewOfRequest returns an entry of the log for a list.
func (c control) viewOfRequest(mask gate.Mask, entry gate.Entry) requestView {
	view := requestView{
		Entry: entry, DurationMs: float64(entry.Duration.Microseconds()) / float64(time.Millisecond/time.Microsecond),
	}
	view.Path, view.ResourceID = mask.Text(entry.Path), mask.Text(entry.ResourceID)
	if entry.Slug != "" {
		_, sent, _ := c.host.log.Get(entry.ID)
		view.Do = mask.Text(wire.Advice(entry.Slug, entry.ResourceID, entry.Account,
			sent.Response.Body()))
	}
	return view
}

// mask knows the credentials of the host. A chosen app key has no form by which it is known.
func (c control) mask() gate.Mask {
	var known []string
	for _, key := range c.host.appKeys.List() {
		known = append(known, key.Secret)
	}
	return gate.Mask{Known: append(known, c.host.seed.otherSurfaceTokens()...)}
}

func (c control) listRequests(r *http.Request) (int, any, error) {
	after, err := countParam(r, "after", "after is the id of a request.")
	if err != nil {
		return 0, nil, err
	}
	last, err := countParam(r, "last", "last is how many requests are returned at most.")
	if err != nil {
		return 0, nil, err
	}
	fits, known := requestKinds[r.URL.Query().Get("kind")]
	if !known {
		return 0, nil, wire.InvalidField("kind", "enum", "The kind is refused, faults, replayed or writes.")
	}
	items, mask, find := []requestView{}, c.mask(), searchText(r)
	var names map[string]string
	if find != "" {
		names = c.host.operator().Names()
	}
	for _, entry := range slices.Backward(c.host.log.After(after)) {
		if last > 0 && len(items) == last {
			break
		}
		if fits(entry) && (find == "" || c.matches(mask, entry, names[entry.Account], find)) {
			items = append(items, c.viewOfRequest(mask, entry))
		}
	}
	slices.Reverse(items)
	return http.StatusOK, map[string]any{"items": items}, nil
}

// requestKinds are the kinds of requests that a list can be limited to.
var requestKinds = map[string]func(gate.Entry) bool{
	"":         func(gate.Entry) bool { return true },
	"refused":  func(e gate.Entry) bool { return e.Status >= http.StatusBadRequest },
	"faults":   func(e gate.Entry) bool { return e.Fault != "" },
	"replayed": func(e gate.Entry) bool { return e.Replayed },
	"writes":   func(e gate.Entry) bool { return e.Method != http.MethodGet },
}

// idPattern is a text that can only be an id, such as po_4xq2.
var idPattern = regexp.MustCompile(`^[a-z]{2,4}_[a-z0-9._:-]+$`)

// matches reports whether a request has a text: in its fields or, for an id, in its response. So the id of a payout
// finds its booking.
func (c control) matches(mask gate.Mask, entry gate.Entry, account, text string) bool {
	if wire.MatchesText(text, entry.Method, mask.Text(entry.Path), strconv.Itoa(entry.Status), entry.Slug,
		entry.Account, account, entry.IdempotencyKey, entry.Fault, entry.Operation,
		entry.Time.UTC().Format(time.DateTime)) {
		return true
	}
	id := strings.ToLower(text)
	if !idPattern.MatchString(id) {
		return false
	}
	if strings.HasPrefix(strings.ToLower(entry.RequestID), id) { // a part of it would be found by chance
		return true
	}
	_, sent, _ := c.host.log.Get(entry.ID)
	return bytes.Contains(sent.Response.Body(), []byte(`"`+text+`"`))
}

// searchText reads the text that a list is searched for.
func searchText(r *http.Request) string { return strings.TrimSpace(r.URL.Query().Get("find")) }

func (c control) readRequest(r *http.Request) (int, any, error) {
	id, err := strconv.Atoi(r.PathValue("id"))
	if err != nil {
		return 0, nil, wire.NotFound()
	}
	entry, sent, ok := c.host.log.Get(id)
	if !ok {
		return 0, nil, wire.NotFound()
	}
	mask := c.mask()
	view := c.viewOfRequest(mask, entry)
	view.Request, view.Response = sent.Request.View(mask), sent.Response.View(mask)
	return http.StatusOK, view, nil
}

// countParam reads a parameter of the query that counts something, 0 if it is missing.
func countParam(r *http.Request, name, meaning string) (int, error) {
	text := r.URL.Query().Get(name)
	if text == "" {
		return 0, nil
	}
	count, err := strconv.Atoi(text)
	if err != nil || count < 0 {
		return 0, wire.InvalidField(name, "greater_than_equal", meaning)
	}
	return count, nil
}

const (
	// heartbeat is how often a comment is sent, so that both sides notice a broken connection.
	heartbeat = 15 * time.Second
	// pollInterval is how often a stream checks for changes without a request or a control. The host makes a due step
	// only when its state is read.
	pollInterval = time.Second
	// eventTimeout is how long a write to a listener may take. A slower listener is disconnected.
	eventTimeout = 10 * time.Second
)

// listen streams requests and changes until the client disconnects. It reads the log after each wake-up, so that no
// request waits for a slow client. A slow client misses requests that the log has dropped.
func (c control) listen(w http.ResponseWriter, r *http.Request) {
	after, err := c.lastEventID(r)
	if err != nil {
		respondWith(func(*http.Request) (int, any, error) { return 0, nil, err })(w, r)
		return
	}
	log := c.host.log
	woken, stop := log.Listen()
	defer stop()
	known := c.revisions()

	stream := &eventStream{w: w, connection: http.NewResponseController(w)}
	_ = stream.connection.SetReadDeadline(time.Time{}) // a server's ReadTimeout would end the request
	header := w.Header()
	header.Set("Content-Type", "text/event-stream")
	header.Set("Cache-Control", "no-store")
	header.Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)
	stream.text("retry: 1000\n\n")
	stream.host(log, known.log)

	look, silent := time.NewTicker(pollInterval), time.NewTicker(heartbeat)
	defer look.Stop()
	defer silent.Stop()
	for stream.flush() == nil {
		now := c.revisions()
		var entries []gate.Entry
		now.log, entries = log.EntriesSince(after)
		if now.log != known.log { // first: a listener forgets its requests at a reset
			stream.host(log, now.log)
		}
		for _, what := range now.changedSince(known) {
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

// lastEventID returns the number of the request after which the stream begins: that of the header of a connection that
// was lost, or of the query, or of the latest request.
func (c control) lastEventID(r *http.Request) (int, error) {
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
	after, err := countParam(r, "after", "after is the id of a request.")
	if after > last { // an id of a host that was started again since
		after = 0
	}
	return after, err
}

// revisions are numbers and pointers that differ after a change.
type revisions struct {
	log                  string // another id after a reset
	ledger, faults, keys int64
	advanced             time.Duration
	settings             *deployment.Settings
}

func (c control) revisions() revisions {
	h := c.host
	return revisions{
		log: h.log.ID(), ledger: h.operator().Revision(), faults: h.faults.Revision(),
		keys: h.registry.Revision() + h.appKeys.Revision(), advanced: h.clock.Advanced(), settings: h.settings.get(),
	}
}

// changedSince lists what has changed. After a reset, that is everything.
func (m revisions) changedSince(before revisions) []string {
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
		_ = s.connection.SetWriteDeadline(time.Now().Add(eventTimeout)) // fails for a writer without a connection
	}
	s.pending = true
	if _, err := fmt.Fprint(s.w, text); err != nil {
		s.failed = err
	}
}

// host writes the id of the log and its last number.
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

// flush sends the buffered events. It returns an error once the client has disconnected.
func (s *eventStream) flush() error {
	if !s.pending || s.failed != nil {
		return s.failed
	}
	s.pending = false
	s.failed = s.connection.Flush()
	_ = s.connection.SetWriteDeadline(time.Time{}) // until the next event
	return s.failed
}
