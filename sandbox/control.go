package sandbox

import (
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/console"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/hostname"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/refuse"
)

// controlBase is the path of the host's controls, and consolePath that of the page for people.
const (
	controlBase = "/_host"
	consolePath = "/_console"
)

// maxControlBody bounds the bodies of control calls.
const maxControlBody = 1 << 20

// WithControl serves the host's controls under /_host, to callers on the same machine only. The package documentation
// lists the calls.
func WithControl() Option {
	return func(s *setup) { s.control = newControl }
}

// control serves the host's controls over HTTP; each call is one of [Host]'s
// methods.
type control struct{ host *Host }

// newControl puts the controls before the service. They answer the machine itself only: the
// peer's address must be loopback and the name that it asked for one of the
// host's, so that no page of a browser reaches them by a name of its own, and
// requests that a browser sends from another origin are refused.
func newControl(h *Host, names hostname.Names, service http.Handler) http.Handler {
	c := control{h}
	mux := http.NewServeMux()
	for pattern, call := range map[string]func(*http.Request) (int, any, error){
		"GET /clock":                 c.readClock,
		"POST /clock":                c.moveClock,
		"GET /keys":                  c.listKeys,
		"POST /keys":                 c.ifRoom(c.registerKey),
		"DELETE /keys/{id}":          c.deleteKey,
		"GET /app-keys":              c.listAppKeys,
		"POST /app-keys":             c.ifRoom(c.registerAppKey),
		"DELETE /app-keys/{id}":      c.deleteAppKey,
		"GET /ledger":                c.readLedger,
		"GET /requests":              c.listRequests,
		"GET /audit":                 c.readAudit,
		"GET /audit/{account}/{key}": c.readAuditOf,
		"GET /faults":                c.listFaults,
		"POST /faults":               c.ifRoom(c.armFault),
		"DELETE /faults":             c.disarmFaults,
		"DELETE /faults/{id}":        c.disarmFault,
		"POST /payouts/{id}":         c.ifRoom(c.movePayout),
		"GET /settings":              c.readSettings,
		"PUT /settings":              c.changeSettings,
		"POST /reset":                c.reset,
	} {
		mux.HandleFunc(pattern, respondWith(call))
	}
	mux.HandleFunc("/", respondWith(func(*http.Request) (int, any, error) { return 0, nil, refuse.NotFound() }))
	served := http.NewServeMux()
	served.Handle(controlBase+"/", http.StripPrefix(controlBase, mux))
	served.Handle("GET "+consolePath, console.Handler())
	controls := onlyMachine(names, http.NewCrossOriginProtection().Handler(served))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == consolePath || strings.HasPrefix(r.URL.Path, controlBase+"/") {
			controls.ServeHTTP(w, r)
			return
		}
		service.ServeHTTP(w, r)
	})
}

// ifRoom makes a control call, or refuses it.
func (c control) ifRoom(call func(*http.Request) (int, any, error)) func(*http.Request) (int, any, error) {
	return func(r *http.Request) (int, any, error) {
		if err := c.host.room(); err != nil {
			return 0, nil, err
		}
		return call(r)
	}
}

func onlyMachine(names hostname.Names, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case !hostname.IsLoopback(r.RemoteAddr):
			writeRefusal(w, refuse.Forbidden())
		case !names.Allow(r):
			writeRefusal(w, refuse.UnknownHost())
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// respondWith writes what a call returns, or its refusal.
func respondWith(call func(*http.Request) (int, any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		status, body, err := call(r)
		if err != nil {
			var refusal *refuse.Refusal
			if !errors.As(err, &refusal) {
				refusal = refuse.InvalidRequest(err.Error())
			}
			writeRefusal(w, refusal)
			return
		}
		writeJSON(w, status, body)
	}
}

func writeRefusal(w http.ResponseWriter, refusal *refuse.Refusal) {
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
		return refuse.InvalidRequest("The body cannot be read.")
	}
	return json.Unmarshal(body, into, json.RejectUnknownMembers(true))
}
