package sandbox

import (
	"net/http"
	"strconv"
	"time"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/advice"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/exchange"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/gate"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/refuse"
)

// requestView is a request in JSON.
type requestView struct {
	gate.Entry
	DurationMs float64        `json:"durationMs"`
	Do         string         `json:"do,omitzero"` // what to do about the slug
	Request    *exchange.View `json:"request,omitzero"`
	Response   *exchange.View `json:"response,omitzero"`
}

// viewOfRequest shows an entry of the log. Only the advice needs what was sent.
func (c control) viewOfRequest(mask exchange.Mask, entry gate.Entry) requestView {
	view := requestView{
		Entry: entry, DurationMs: float64(entry.Duration.Microseconds()) / float64(time.Millisecond/time.Microsecond),
	}
	view.Path, view.ResourceID = mask.Text(entry.Path), mask.Text(entry.ResourceID)
	if entry.Slug != "" {
		_, sent, _ := c.host.log.Get(entry.ID)
		view.Do = mask.Text(advice.Do(entry, sent.Response.Body()))
	}
	return view
}

// mask knows the credentials of the host. A chosen app key has no form by which it is known.
func (c control) mask() exchange.Mask {
	var known []string
	for _, key := range c.host.appKeys.List() {
		known = append(known, key.Secret)
	}
	return exchange.Mask{Known: append(known, c.host.seed.foreign()...)}
}

func (c control) listRequests(r *http.Request) (int, any, error) {
	after, err := countOf(r, "after", "after is the id of a request.")
	if err != nil {
		return 0, nil, err
	}
	items, mask := []requestView{}, c.mask()
	for _, entry := range c.host.log.After(after) {
		items = append(items, c.viewOfRequest(mask, entry))
	}
	return http.StatusOK, map[string]any{"items": items}, nil
}

func (c control) readRequest(r *http.Request) (int, any, error) {
	id, err := strconv.Atoi(r.PathValue("id"))
	if err != nil {
		return 0, nil, refuse.NotFound()
	}
	entry, sent, ok := c.host.log.Get(id)
	if !ok {
		return 0, nil, refuse.NotFound()
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
		return 0, refuse.InvalidField(name, "greater_than_equal", meaning)
	}
	return count, nil
}
