package contrary_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/contract/wire"
	"github.com/moneymovement/moneymovement-go/internal/test/contrary"
)

// contraryHost is a host that differs in one thing: it hands requests on, and changes the responses in which the thing
// occurs.
type contraryHost struct {
	next        http.Handler
	description *wire.Description
	changes     []contrary.Change
	everywhere  bool // at each entry of a list, not at one alone
	// refuses gives the refusal of a request that the contrary service does not take, or nil.
	refuses func(o *wire.Operation, r *http.Request, body []byte) *response
	// seen is told of every exchange, as it was before the change, and observed as well.
	seen     func(o *wire.Operation, sent []byte, a *response)
	observed func(exchange)

	mu      sync.Mutex
	met     int // how often the case occurred
	altered []pointer
}

// ServeHTTP implements http.Handler.
func (h *contraryHost) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	sent, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	o := h.description.Find(r.Method, r.URL.Path)
	a := h.respond(o, r, sent)
	maps.Copy(w.Header(), a.header)
	w.WriteHeader(a.status)
	_, _ = w.Write(a.body)
}

func (h *contraryHost) respond(o *wire.Operation, r *http.Request, sent []byte) *response {
	if o != nil && h.refuses != nil {
		if refusal := h.refuses(o, r, sent); refusal != nil {
			h.meet(nil)
			return refusal
		}
	}
	onward := r.Clone(r.Context())
	onward.Body = io.NopCloser(bytes.NewReader(sent))
	recorder := httptest.NewRecorder()
	h.next.ServeHTTP(recorder, onward)
	a := &response{recorder.Code, recorder.Header(), recorder.Body.Bytes()}
	if o == nil {
		return a
	}
	if h.seen != nil {
		h.seen(o, sent, a)
	}
	if h.observed != nil {
		tree, _ := decode(a.body)
		h.observed(exchange{o, r.URL.Query(), r.Header, sent, a.status, tree, a.header.Clone()})
	}
	for _, c := range applies(h.changes, o.Name(), a.status) {
		if changed := alter(a, c, h.everywhere); len(changed) > 0 {
			h.meet(changed)
			if !h.everywhere {
				break
			}
		}
	}
	a.header.Del("Content-Length")
	return a
}

func (h *contraryHost) meet(changed []pointer) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.met++
	h.altered = changed
}

// occurred says how often the case did, and where in the last response.
func (h *contraryHost) occurred() (times int, last []pointer) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.met, h.altered
}

// refusal is the envelope of the platform's refusals.
func refusal(status int, code, message string, details any) *response {
	body := map[string]any{"code": code, "message": message}
	if details != nil {
		body["details"] = details
	}
	return jsonResponse(status, map[string]any{"error": body})
}

func jsonResponse(status int, value any) *response {
	return &response{status, http.Header{"Content-Type": {"application/json"}, "X-Request-Id": {"req_contrary"}},
		encode(value)}
}

// response is a response of the host on its way to the client.
type response struct {
	status int
	header http.Header
	body   []byte
}

func (a *response) set(body []byte, media string) {
	a.body = body
	a.header.Set("Content-Type", media)
}

// concerns reports whether a change is about a response of an operation.
func concerns(c contrary.Change, operation string, status int) bool {
	success := status >= 200 && status < 300
	switch {
	case c.Site.Operation == nil, c.Site.Operation.Name() != operation, c.Class != contrary.ClassResponse &&
		c.Class != contrary.ClassConstraint:
		return false
	case c.Site.Side == "": // of the operation: all its successes
		return success
	case c.Site.Status == "default":
		return !success
	}
	return c.Site.Side == contrary.Response && c.Site.Status == fmt.Sprint(status)
}

// alter makes a response other, and says where. In a list, it is other at each entry, or at one of them alone.
func alter(a *response, c contrary.Change, everywhere bool) []pointer {
	switch {
	case c.Site.In == "header":
		return alterHeader(a, c)
	case c.Site.In == "body" &&
		len(c.Site.Path) > 0, c.Kind == contrary.BareList, c.Kind == contrary.ListInData,
		c.Kind == contrary.ListInResults:
		return alterBody(a, c, everywhere)
	}
	return alterWhole(a, c.Kind)
}

func alterHeader(a *response, c contrary.Change) []pointer {
	name := c.Site.Name()
	if c.Kind == contrary.Absent {
		a.header.Del(name)
	} else {
		a.header.Set(name, "of no such form")
	}
	return []pointer{nil}
}

const problem = "Not authenticated"

func alterWhole(a *response, kind contrary.Kind) []pointer {
	const jsonMedia = "application/json"
	switch kind {
	case contrary.Status200, contrary.Status201, contrary.Status202:
		a.status = map[contrary.Kind]int{contrary.Status200: 200, contrary.Status201: 201,
			contrary.Status202: 202}[kind]
	case contrary.Status204:
		a.status = http.StatusNoContent
		a.body = nil
		a.header.Del("Content-Type")
	case contrary.EmptyBody, contrary.EmptyRefuse:
		a.body = nil
		a.header.Del("Content-Type")
	case contrary.OnlyOK:
		if a.status == http.StatusNoContent {
			a.status = http.StatusOK
		}
		a.set([]byte(`{"ok":true}`), jsonMedia)
	case contrary.OtherMedia:
		a.header.Set("Content-Type", "application/octet-stream")
	case contrary.DetailText:
		a.set([]byte(`{"detail":"`+problem+`"}`), jsonMedia)
	case contrary.BareMessage:
		a.set([]byte(`{"message":"`+problem+`"}`), jsonMedia)
	case contrary.PlainText:
		a.set([]byte(problem), "text/plain")
	default:
		return nil
	}
	return []pointer{nil}
}

func alterBody(a *response, c contrary.Change, everywhere bool) []pointer {
	tree, err := decode(a.body)
	if err != nil {
		return nil
	}
	if c.Kind == contrary.BareList || c.Kind == contrary.ListInData || c.Kind == contrary.ListInResults {
		return alterPage(a, c, tree)
	}
	var changed []pointer
	for _, p := range resolve(tree, c.Site) {
		value, there := at(tree, p)
		other, keep, differs := otherValue(c, value, there)
		if !differs || !everywhere && len(changed) > 0 {
			continue
		}
		if c.Kind == contrary.Renamed {
			tree = put(tree, renamed(p), value, true)
		}
		tree = put(tree, p, other, keep)
		changed = append(changed, p)
	}
	if len(changed) > 0 {
		a.body = encode(tree)
	}
	return changed
}

// alterPage takes the one list of a page out of its envelope.
func alterPage(a *response, c contrary.Change, tree any) []pointer {
	member := "items"
	if len(c.Site.Path) == 1 {
		member = c.Site.Path[0]
	}
	page, _ := tree.(map[string]any)
	list, is := page[member].([]any)
	if !is {
		return nil
	}
	switch c.Kind {
	case contrary.BareList:
		a.body = encode(list)
		return []pointer{{member}}
	case contrary.ListInData:
		tree = put(tree, pointer{"data"}, list, true)
	default:
		tree = put(tree, pointer{"results"}, list, true)
	}
	a.body = encode(put(tree, pointer{member}, nil, false))
	return []pointer{{member}}
}

// otherValue is what stands in the place of a value. differs is false where the change does not apply.
func otherValue(c contrary.Change, value any, there bool) (other any, keep, differs bool) {
	text, isText := value.(string)
	if word, is := c.Mark.Value(); is && text != word {
		return nil, false, false
	}
	switch c.Kind {
	case contrary.Absent, contrary.Renamed:
		return nil, false, there
	case contrary.Null:
		return nil, true, !there || value != nil
	case contrary.Looser:
		return outside(c, value)
	case contrary.AsText:
		return "of another type", true, true
	case contrary.Unreadable:
		return "of no such form !", true, true
	case setWord:
		return c.Member, true, true
	case contrary.AnotherForm, contrary.AnotherWord:
		return "another_word", true, true
	case contrary.AsNumber:
		return json.Number("7"), true, true
	case contrary.AsBoolean:
		return true, true, true
	case contrary.AsObject:
		return map[string]any{"value": text}, true, true
	case contrary.AsList:
		return []any{"of another type"}, true, true
	case contrary.DigitsAsText:
		number, is := value.(json.Number)
		return number.String(), true, is
	}
	if !isText {
		return nil, false, false
	}
	other = respelt(c.Kind, text)
	return other, true, other != any(text)
}

// respelt spells a text otherwise.
func respelt(kind contrary.Kind, text string) any {
	switch kind {
	case contrary.DigitsAsNumber:
		return json.Number(text)
	case contrary.URLBase64:
		return strings.NewReplacer("+", "-", "/", "_").Replace(text)
	case contrary.UnpaddedBase64:
		return strings.TrimRight(text, "=")
	case contrary.SpacedTime:
		return strings.Replace(text, "T", " ", 1)
	case contrary.TimeToMinutes:
		if minutes := strings.LastIndex(text, ":"); minutes == len("2006-01-02T15:04") {
			return text[:minutes] + text[len(text)-1:]
		}
	case contrary.ZonelessTime:
		return strings.TrimSuffix(text, "Z")
	case contrary.DateWithTime:
		return text + "T00:00:00Z"
	}
	return text
}

// applies reports whether a change can be made to such a response.
func applies(changes []contrary.Change, operation string, status int) []contrary.Change {
	return slices.DeleteFunc(slices.Clone(changes), func(c contrary.Change) bool {
		return !concerns(c, operation, status)
	})
}

// outside is a value beyond a bound of ours. differs is false if the bound is not of this value.
func outside(c contrary.Change, value any) (other any, keep, differs bool) {
	was, _ := value.(string)
	for _, layer := range c.Site.Layers {
		bound := layer.At(c.Mark.Aspect)
		most, _ := bound.Int()
		if !bound.Exists() {
			continue
		}
		switch c.Mark.Aspect {
		case "pattern", "format":
			prefix := ""
			if !slices.ContainsFunc(layer.Marks(), func(mark *wire.Assumption) bool {
				return mark.Aspect == "x-id-prefix"
			}) {
				prefix = layer.At("x-id-prefix").Text() // which is stated
			}
			return prefix + "another form", true, true
		case "x-id-prefix":
			return strings.TrimPrefix(was, bound.Text()), true, true
		case "minLength":
			return strings.Repeat("A", most-1), true, true
		case "maxLength":
			return strings.Repeat("A", most+1), true, true
		case "minimum":
			return json.Number(fmt.Sprint(most - 1)), true, true
		case "maximum":
			return json.Number(fmt.Sprint(most + 1)), true, true
		case "minItems":
			return []any{}, true, true
		}
	}
	return nil, false, false
}
