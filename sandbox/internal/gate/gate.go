package gate

import (
	"crypto/rand"
	"errors"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"

	"github.com/getkin/kin-openapi/openapi3filter"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/caller"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/clock"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/credential"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/fault"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/hostname"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/refuse"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/serve"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/session"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/window"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/appwire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/platformwire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/publicwire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/referencewire"
)

// Config has the parts that a gate connects.
type Config struct {
	// The operations of each surface.
	Platform  platformwire.Server
	App       appwire.Server
	Reference referencewire.Server
	Public    publicwire.Server

	// The state that sessions of the platform API are checked with. IsClient reports whether a client exists and
	// belongs to an integrator's account.
	Registry *session.Registry
	Tokens   *session.Tokens
	Windows  *window.Counters
	IsClient func(owner, client string) bool

	// The credentials of the app API and of the reference endpoints.
	AppKeys      *credential.AppKeys
	AccessTokens *credential.AccessTokens

	Clock  *clock.Clock
	Faults *fault.Set
	Log    *Log
	Names  hostname.Names // names of the host

	// If DatabaseAvailable returns false, every operation is refused with database_unavailable.
	DatabaseAvailable func() bool
	// Room refuses a request that would make the host keep more records than allowed.
	Room func() error
	// Violation, if set, is called for every response that differs from the description.
	Violation func(operation string, err error)
	// Logger logs failures of the host itself.
	Logger *slog.Logger
}

// Gate is the service as an [http.Handler]. It is safe for concurrent use.
type Gate struct {
	surfaces   []*surface
	validation *openapi3filter.Options
	clock      *clock.Clock
	tokens     *session.Tokens
	faults     *fault.Set
	log        *Log
	names      hostname.Names
	available  func() bool
	room       func() error
	violation  func(operation string, err error)
	logger     *slog.Logger
}

// New returns the gate. It fails if a description and its generated server disagree, which is a mistake in the build.
func New(config Config) (*Gate, error) {
	g := &Gate{
		validation: validation(),
		clock:      config.Clock, tokens: config.Tokens,
		faults: config.Faults, log: config.Log, names: config.Names, available: config.DatabaseAvailable,
		room:      config.Room,
		violation: config.Violation, logger: config.Logger,
	}
	var err error
	g.surfaces, err = g.mountAll(config)
	return g, err
}

// Operations are the operations of every surface.
func (g *Gate) Operations() fault.Operations {
	var all fault.Operations
	for _, s := range g.surfaces {
		for _, r := range s.routes {
			all = append(all, fault.Operation{Method: r.method, Path: strings.Join(r.segments, "/")})
		}
	}
	return all
}

// surfaceOf finds the surface that a path belongs to.
func (g *Gate) surfaceOf(path string) *surface {
	for _, s := range g.surfaces {
		if s.owns(path) {
			return s
		}
	}
	return g.surfaces[len(g.surfaces)-1]
}

// ServeHTTP handles one request, and adds it to the log.
func (g *Gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s := g.surfaceOf(r.URL.Path)
	a := newAnswer("req_" + rand.Text())
	a.detailed = s.detailed
	entry := Entry{Time: g.clock.Now(), Method: r.Method, Path: r.URL.Path, RequestID: a.requestID}
	entry.IdempotencyKey, _ = idempotencyKeyOf(r)
	body := &payload{request: r, limit: s.maxBody}
	var scripted fault.Fault // no fault does nothing
	if g.names.AllowArrival(r) {
		scripted, _ = g.faults.Take(r.Method, r.URL.Path)
		entry.Fault = string(scripted.Kind)
		if g.before(r, scripted, body) {
			g.operate(a, r, s, body, &entry)
		}
	} else {
		a.refuse(refuse.UnknownHost())
	}
	length := g.after(a, scripted)
	a.header.Set("Date", g.clock.Now().UTC().Format(http.TimeFormat)) // the host's time, which a test may have moved
	a.finish()

	if length == nothing {
		g.log.add(entry)
		panic(http.ErrAbortHandler) // closes the connection; a flush would send status 200 and an empty header first
	}
	entry.Status, entry.Slug = a.status, a.slug
	g.log.add(entry)
	left := body.precede(w)
	if !a.send(w, length) {
		breakOff(w)
	}
	if left {
		body.rest(w)
	}
}

// operate takes a request through every step, and leaves the response in a.
func (g *Gate) operate(a *answer, r *http.Request, s *surface, body *payload, entry *Entry) {
	defer func() {
		if cause := recover(); cause != nil {
			g.logger.Error("operation panicked", "operation", entry.Operation, "cause", cause, "stack",
				string(debug.Stack()))
			a.refuse(refuse.InternalError())
		}
	}()
	if !g.available() {
		a.refuse(refuse.DatabaseUnavailable())
		return
	}
	route, parameters, err := s.routes.find(r)
	if err != nil {
		g.refused(a, r, err)
		return
	}
	entry.Operation = route.operation
	if err := g.perform(a, r, s, route, parameters, body, entry); err != nil {
		g.refused(a, r, err)
	}
	g.validateAnswer(a, r, route, parameters)
}

// perform checks the request and runs the operation.
func (g *Gate) perform(
	a *answer, r *http.Request, s *surface, route *route, parameters map[string]string, sent *payload, entry *Entry,
) error {
	who, err := s.admit(r, route, a.requestID)
	entry.Account = who.Account
	if err != nil {
		return err
	}
	if route.adds() {
		if err := g.room(); err != nil {
			return err
		}
	}
	body, err := sent.read()
	if err != nil {
		return err
	}
	if s.keyed(route) {
		if who.IdempotencyKey, err = idempotencyKeyOf(r); err != nil {
			return err
		}
	}
	ctx := caller.With(r.Context(), who)
	r = r.WithContext(ctx)
	request := &serve.Request{Path: parameters, Header: r.Header, Body: body}
	if err := g.validate(ctx, r, route, request); err != nil {
		return err
	}
	returned, err := route.run(ctx, request)
	if err != nil {
		return err
	}
	return a.take(returned)
}

// refused writes the refusal of an operation. Any other error is a failure of the host and is logged.
func (g *Gate) refused(a *answer, r *http.Request, err error) {
	var refusal *refuse.Refusal
	if !errors.As(err, &refusal) {
		g.logger.Error("operation failed", "method", r.Method, "path", r.URL.Path, "error", err)
	}
	a.refuse(err)
}
