package contrary_test

import (
	"bytes"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"sync"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/contract/wire"
	"github.com/moneymovement/moneymovement-go/internal/test/contrary"
)

// contraryHost is a host that differs in one thing: it hands requests on, and changes the answers in which the thing
// occurs.
type contraryHost struct {
	next        http.Handler
	description *wire.Description
	changes     []contrary.Change
	everywhere  bool // at each entry of a list, not at one alone
	// refuses gives the refusal of a request that the contrary service does not take, or nil.
	refuses func(o *wire.Operation, r *http.Request, body []byte) *answered
	// seen is told of every exchange, as it was before the change, and observed as well.
	seen     func(o *wire.Operation, sent []byte, a *answered)
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
	a := h.answer(o, r, sent)
	maps.Copy(w.Header(), a.header)
	w.WriteHeader(a.status)
	_, _ = w.Write(a.body)
}

func (h *contraryHost) answer(o *wire.Operation, r *http.Request, sent []byte) *answered {
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
	a := &answered{recorder.Code, recorder.Header(), recorder.Body.Bytes()}
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

// occurred says how often the case did, and where in the last answer.
func (h *contraryHost) occurred() (times int, last []pointer) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.met, h.altered
}

// refusal is the envelope of the platform's refusals.
func refusal(status int, code, message string, details any) *answered {
	body := map[string]any{"code": code, "message": message}
	if details != nil {
		body["details"] = details
	}
	return answerJSON(status, map[string]any{"error": body})
}

func answerJSON(status int, value any) *answered {
	return &answered{status, http.Header{"Content-Type": {"application/json"}, "X-Request-Id": {"req_contrary"}},
		encode(value)}
}
