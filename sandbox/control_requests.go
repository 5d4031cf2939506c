package sandbox

import (
	"bytes"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/gate"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
)

// requestView is a request in JSON.
type requestView struct {
	gate.Entry
	DurationMs float64        `json:"durationMs"`
	Do         string         `json:"do,omitzero"` // what to do about the slug
	Request    *gate.MessageView `json:"request,omitzero"`
	Response   *gate.MessageView `json:"response,omitzero"`
}

// viewOfRequest shows an entry of the log. Only the advice needs what was sent.
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
	return gate.Mask{Known: append(known, c.host.seed.foreign()...)}
}

func (c control) listRequests(r *http.Request) (int, any, error) {
	after, err := countOf(r, "after", "after is the id of a request.")
	if err != nil {
		return 0, nil, err
	}
	last, err := countOf(r, "last", "last is how many requests are returned at most.")
	if err != nil {
		return 0, nil, err
	}
	fits, known := requestKinds[r.URL.Query().Get("kind")]
	if !known {
		return 0, nil, wire.InvalidField("kind", "enum", "The kind is refused, faults, replayed or writes.")
	}
	items, mask, find := []requestView{}, c.mask(), findOf(r)
	var names map[string]string
	if find != "" {
		names = c.host.operator().Names()
	}
	for _, entry := range slices.Backward(c.host.log.After(after)) {
		if last > 0 && len(items) == last {
			break
		}
		if fits(entry) && (find == "" || c.found(mask, entry, names[entry.Account], find)) {
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

// anID is a text that can only be an id, such as po_4xq2.
var anID = regexp.MustCompile(`^[a-z]{2,4}_[a-z0-9._:-]+$`)

// found reports whether a request has a text: in what is listed of it, or, if the text is an id, in the response. So
// the booking of a payout is found by the id that it returned.
func (c control) found(mask gate.Mask, entry gate.Entry, account, text string) bool {
	if wire.Found(text, entry.Method, mask.Text(entry.Path), strconv.Itoa(entry.Status), entry.Slug, entry.Account,
		account, entry.IdempotencyKey, entry.Fault, entry.Operation, entry.Time.UTC().Format(time.DateTime)) {
		return true
	}
	id := strings.ToLower(text)
	if !anID.MatchString(id) {
		return false
	}
	if strings.HasPrefix(strings.ToLower(entry.RequestID), id) { // a part of it would be found by chance
		return true
	}
	_, sent, _ := c.host.log.Get(entry.ID)
	return bytes.Contains(sent.Response.Body(), []byte(`"`+text+`"`))
}

// findOf reads the text that a list is searched for.
func findOf(r *http.Request) string { return strings.TrimSpace(r.URL.Query().Get("find")) }

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

// countOf reads a parameter of the query that counts something, 0 if it is missing.
func countOf(r *http.Request, name, meaning string) (int, error) {
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
