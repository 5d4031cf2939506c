package sandbox

import (
	"errors"
	"io"
	"net/http"

	"github.com/go-json-experiment/json"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/gate"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
)

// maxControlBody bounds the bodies of control calls.
const maxControlBody = 1 << 20

// WithControl serves the host's controls under /_host, and a page for people at /_console, to callers on the same
// machine only. GET /_host lists the controls.
func WithControl() Option {
	return func(s *setup) { s.control = newControl }
}

// control serves the host's controls over HTTP; each call is one of [Host]'s
// methods.
type control struct{ host *Host }

// newControl puts the controls before the service. They are for the machine itself only: the peer's address must be
// loopback, and the name that it asked for one of the host's, so that no page of a browser reaches them by a name of
// its own. Requests that a browser sends for a page of another origin are refused.
func newControl(h *Host, names gate.HostNames, service http.Handler) http.Handler {
	c := control{h}
	controls := onlyMachine(names, c.mux())
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if isControl(r.URL.Path) {
			controls.ServeHTTP(w, r)
			return
		}
		service.ServeHTTP(w, r)
	})
}

// controlCall carries out a control. It returns the status and the body of the response, or the refusal.
type controlCall func(*http.Request) (int, any, error)

// ifRoom makes a control call, or refuses it.
func (c control) ifRoom(call controlCall) controlCall {
	return func(r *http.Request) (int, any, error) {
		if err := c.host.room(); err != nil {
			return 0, nil, err
		}
		return call(r)
	}
}

// onlyMachine refuses callers that are not on this machine, and pages of other origins.
func onlyMachine(names gate.HostNames, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case !gate.IsLoopback(r.RemoteAddr):
			writeRefusal(w, forbidden("The controls are for callers on the same machine."))
		case !names.AllowControl(r):
			writeRefusal(w, wire.UnknownHost())
		case isForeign(r):
			writeRefusal(w, forbidden("The controls are not for pages of another origin."))
		default:
			next.ServeHTTP(w, r)
		}
	})
}

func forbidden(message string) *wire.Refusal {
	refusal := wire.Forbidden()
	refusal.Message = message
	return refusal
}

// origins finds requests of pages of other origins.
var origins = http.NewCrossOriginProtection()

// isForeign reports whether a page of another origin makes the request, also one that only reads: a browser would not
// show the page the response, but the host would do its work. A link to the page for people may be anywhere.
func isForeign(r *http.Request) bool {
	if r.URL.Path == consolePath && r.Header.Get("Sec-Fetch-Mode") == "navigate" &&
		r.Header.Get("Sec-Fetch-Dest") == "document" {
		return false
	}
	asWrite := *r // the check lets every read pass
	asWrite.Method = http.MethodPost
	return origins.Check(&asWrite) != nil
}

// respondWith writes what a call returns, or its refusal.
func respondWith(call controlCall) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		status, body, err := call(r)
		if err != nil {
			var refusal *wire.Refusal
			if !errors.As(err, &refusal) {
				refusal = wire.InvalidRequest(err.Error())
			}
			writeRefusal(w, refusal)
			return
		}
		writeJSON(w, status, body)
	}
}

func writeRefusal(w http.ResponseWriter, refusal *wire.Refusal) {
	body := map[string]any{"code": refusal.Code, "message": refusal.Message}
	if refusal.Details != nil {
		body["details"] = refusal.Details
	}
	writeJSON(w, refusal.Status, map[string]any{"error": body})
}

func writeJSON(w http.ResponseWriter, status int, body any) {
	if body == nil {
		w.WriteHeader(status)
		return
	}
	text, err := json.Marshal(body, json.Deterministic(true))
	if err != nil {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(text, '\n')) // a caller that hung up needs no response
}

// read decodes a body over what into holds; a member that it does not have is
// refused.
func read(r *http.Request, into any) error {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxControlBody))
	if err != nil {
		return wire.InvalidRequest("The body cannot be read.")
	}
	return json.Unmarshal(body, into, json.RejectUnknownMembers(true))
}
