package sandbox

import (
	"errors"
	"io"
	"net/http"

	"github.com/go-json-experiment/json"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/console"
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

// newControl serves the controls before the service. They are for callers on the same machine: the peer's address must
// be loopback, and the Host header must have a name of the host, so that no page reaches them under its own domain
// name. Requests of pages of another origin are refused.
func newControl(h *Host, names gate.HostNames, service http.Handler) http.Handler {
	c := control{h}
	controls := localOnly(names, c.mux())
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

// withinLimit makes a control call, or refuses it.
func (c control) withinLimit(call controlCall) controlCall {
	return func(r *http.Request) (int, any, error) {
		if err := c.host.checkRecordLimit(); err != nil {
			return 0, nil, err
		}
		return call(r)
	}
}

// localOnly refuses callers that are not on this machine, and pages of other origins.
func localOnly(names gate.HostNames, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case !gate.IsLoopback(r.RemoteAddr):
			writeRefusal(w, forbidden("The controls are for callers on the same machine."))
		case !names.AllowControl(r):
			writeRefusal(w, wire.UnknownHost())
		case isCrossOrigin(r):
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

// crossOrigin finds requests of pages of other origins.
var crossOrigin = http.NewCrossOriginProtection()

// isCrossOrigin reports whether a page of another origin makes the request, also one that only reads: a browser would
// not show the page the response, but the host would do its work. A link to the page for people may be anywhere.
func isCrossOrigin(r *http.Request) bool {
	if r.URL.Path == consolePath && r.Header.Get("Sec-Fetch-Mode") == "navigate" &&
		r.Header.Get("Sec-Fetch-Dest") == "document" {
		return false
	}
	asWrite := *r // the check lets every read pass
	asWrite.Method = http.MethodPost
	return crossOrigin.Check(&asWrite) != nil
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

// decodeBody decodes a body into a value, and keeps members that the body does not have. Unknown members are refused.
func decodeBody(r *http.Request, into any) error {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxControlBody))
	if err != nil {
		return wire.InvalidRequest("The body cannot be read.")
	}
	return json.Unmarshal(body, into, json.RejectUnknownMembers(true))
}

// controlRoute is a control as control.yaml describes it, by its method and path.
type controlRoute struct{ Method, Path string }

func (r controlRoute) String() string { return r.Method + " " + r.Path }

// routes are the controls of control.yaml. A test holds both lists equal.
func (c control) routes() map[controlRoute]http.Handler {
	const get, post, put, del = http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete
	return map[controlRoute]http.Handler{
		{get, "/_host"}:              respondWith(readIndex),
		{get, "/_host/openapi.yaml"}: http.HandlerFunc(readDescription),
		{get, "/_host/credentials"}:  http.HandlerFunc(c.readCredentials),
		{get, "/_host/operations"}:   respondWith(c.listOperations),
		{get, "/_host/slugs"}:        respondWith(c.listSlugs),
		{post, "/_host/reset"}:       c.notifying(c.reset),

		{get, "/_host/clock"}:             respondWith(c.readClock),
		{post, "/_host/clock"}:            c.notifying(c.moveClock),
		{get, "/_host/settings"}:          respondWith(c.readSettings),
		{put, "/_host/settings"}:          c.notifying(c.changeSettings),
		{get, "/_host/settings/start"}:    respondWith(c.readSettingsOfStart),
		{get, "/_host/settings/meanings"}: respondWith(listMeanings),
		{get, "/_host/windows"}:           respondWith(c.listWindows),

		{get, "/_host/accounts"}:              respondWith(c.listAccounts),
		{post, "/_host/credits"}:              c.notifying(c.withinLimit(c.credit)),
		{get, "/_host/payouts"}:               respondWith(c.listPayouts),
		{post, "/_host/payouts"}:              c.notifying(c.withinLimit(c.sendPayout)),
		{post, "/_host/payouts/{id}"}:         c.notifying(c.withinLimit(c.movePayout)),
		{get, "/_host/payins"}:                respondWith(c.listPayins),
		{post, "/_host/payins/{id}"}:          c.notifying(c.withinLimit(c.movePayin)),
		{get, "/_host/verifications"}:         respondWith(c.listVerifications),
		{post, "/_host/verifications/{id}"}:   c.notifying(c.decideVerification),
		{get, "/_host/escrows"}:               respondWith(c.listEscrows),
		{get, "/_host/ledger"}:                respondWith(c.readLedger),
		{get, "/_host/audit"}:                 respondWith(c.readAudit),
		{get, "/_host/audit/{account}/{key}"}: respondWith(c.readAuditOf),

		{get, "/_host/requests"}:      respondWith(c.listRequests),
		{get, "/_host/requests/{id}"}: respondWith(c.readRequest),
		{get, "/_host/events"}:        http.HandlerFunc(c.listen),

		{get, "/_host/faults"}:      respondWith(c.listFaults),
		{post, "/_host/faults"}:     c.notifying(c.withinLimit(c.armFault)),
		{del, "/_host/faults"}:      c.notifying(c.disarmFaults),
		{del, "/_host/faults/{id}"}: c.notifying(c.disarmFault),

		{get, "/_host/keys"}:          respondWith(c.listKeys),
		{post, "/_host/keys"}:         c.notifying(c.withinLimit(c.registerKey)),
		{del, "/_host/keys/{id}"}:     c.notifying(c.deleteKey),
		{get, "/_host/app-keys"}:      respondWith(c.listAppKeys),
		{post, "/_host/app-keys"}:     c.notifying(c.withinLimit(c.registerAppKey)),
		{del, "/_host/app-keys/{id}"}: c.notifying(c.deleteAppKey),
	}
}

// mux serves the controls and the page for people.
func (c control) mux() http.Handler {
	mux := http.NewServeMux()
	for route, handler := range c.routes() {
		mux.Handle(route.String(), handler)
	}
	mux.Handle("GET "+controlBase+"/{$}", respondWith(readIndex))
	mux.Handle("GET "+consolePath, console.Handler())
	mux.HandleFunc("/", respondWith(func(*http.Request) (int, any, error) {
		refusal := wire.NotFound()
		refusal.Message = "There is no such control; GET /_host lists them."
		return 0, nil, refusal
	}))
	return mux
}

// notifying writes what a call returns, and wakes the event streams.
func (c control) notifying(call controlCall) http.Handler {
	respond := respondWith(call)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		respond(w, r)
		c.host.log.Wake()
	})
}
