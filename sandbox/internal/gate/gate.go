package gate

import (
	"crypto/rand"
	"errors"
	"log/slog"
	"net/http"
	"runtime/debug"
	"sync/atomic"

	"github.com/getkin/kin-openapi/openapi3filter"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/audit"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/clock"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/fault"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/session"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
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
	Windows  *clock.Counters
	IsClient func(owner, client string) bool

	// The credentials of the app API and of the reference endpoints.
	AppKeys      *session.AppKeys
	AccessTokens *session.AccessTokens

	Clock  *clock.Clock
	Faults *fault.Set
	Log    *Log
	Audit  *audit.Audit // nil without one
	Names  HostNames    // names of the host

	// If DatabaseAvailable returns false, every operation is refused with database_unavailable.
	DatabaseAvailable func() bool
	// Room refuses a request that would make the host keep more records than allowed.
	Room func() error
	// Violation, if set, is called for every response that differs from the description.
	Violation func(operation string, err error)
	// Observe, if set, is called with each request once its response is known, without any lock.
	Observe func(Entry)
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
	audit      *audit.Audit
	names      HostNames
	available  func() bool
	room       func() error
	violation  func(operation string, err error)
	observe    func(Entry)
	logger     *slog.Logger

	interception atomic.Pointer[Interception]
	attempts     attempts
	answers      answers
	deliveries   deliveries
	digestKey    string
}

// New returns the gate. It fails if a description and its generated server disagree, which is a mistake in the build.
func New(config Config) (*Gate, error) {
	g := &Gate{
		validation: validation(),
		clock:      config.Clock, tokens: config.Tokens,
		faults: config.Faults, log: config.Log, audit: config.Audit, names: config.Names,
		available: config.DatabaseAvailable,
		room:      config.Room,
		violation: config.Violation, observe: config.Observe, logger: config.Logger,
		digestKey: rand.Text(),
	}
	var err error
	g.surfaces, err = g.mountAll(config)
	return g, err
}

// Operations are the operations of every surface.
func (g *Gate) Operations() fault.Operations {
	all := make(fault.Operations, 0, 256)
	for _, s := range g.surfaces {
		for _, e := range s.routes {
			all = append(all, fault.Operation{Method: e.method, Path: e.full})
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

// Reset forgets what faults need: the interception, the requests that arrived, and the ones that arrive again later.
func (g *Gate) Reset() {
	g.interception.Store(nil)
	g.attempts.reset()
	g.answers.reset()
	g.deliveries.reset()
}

// ServeHTTP handles one request, and adds it to the log.
func (g *Gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.DeliverDue()
	v := g.newVisit(r)
	var scripted fault.Fault // no fault does nothing
	var foreign *sentAnswer
	if g.names.AllowArrival(r) {
		v.find()
		scripted, foreign = g.faultFor(v)
		v.entry.Fault = string(scripted.Kind)
		if g.before(v, scripted) {
			g.operate(v)
			g.answers.remember(v)
			v = g.repeat(v, scripted)
		}
	} else {
		v.answer.refuse(wire.UnknownHost())
	}
	length := g.after(v, scripted, foreign)
	v.answer.header.Set("Date", g.clock.Now().UTC().Format(http.TimeFormat)) // the host's time, which may have moved
	v.answer.finish()
	if length == nothing {
		g.note(v, 0, "")
		panic(http.ErrAbortHandler) // closes the connection; a flush would send status 200 and an empty header first
	}
	g.note(v, v.answer.status, v.answer.slug)
	if scripted.Kind == fault.Duplicate {
		g.duplicate(v, scripted)
	}
	left := v.body.precede(w)
	if !v.answer.send(w, length) {
		breakOff(w)
	}
	if left {
		v.body.rest(w)
	}
}

// operate takes a request through every step, and leaves the response in its answer.
func (g *Gate) operate(v *visit) {
	defer func() {
		if cause := recover(); cause != nil {
			g.logger.Error("operation panicked", "operation", v.entry.Operation, "cause", cause, "stack",
				string(debug.Stack()))
			v.answer.refuse(wire.InternalError())
		}
	}()
	if !g.available() {
		v.answer.refuse(wire.DatabaseUnavailable())
		return
	}
	if v.unknown != nil {
		g.refused(v, v.unknown)
		return
	}
	v.entry.Operation = v.route.operation
	if err := g.perform(v); err != nil {
		g.refused(v, err)
	}
	g.validateAnswer(v.answer, v.request, v.route, v.parameters)
}

// perform checks the request and runs the operation.
func (g *Gate) perform(v *visit) error {
	who, err := v.admit()
	v.entry.Account = who.Account
	if err != nil {
		return err
	}
	r, route := v.request, v.route
	if route.adds() {
		if err := g.room(); err != nil {
			return err
		}
	}
	body, err := v.body.read()
	if err != nil {
		return err
	}
	if v.surface.keyed(route) {
		if who.IdempotencyKey, err = idempotencyKeyOf(r); err != nil {
			return err
		}
	}
	who.Seeded = v.entry.Seeded
	ctx := wire.WithCaller(r.Context(), who)
	r = r.WithContext(ctx)
	request := &wire.Request{Path: v.parameters, Header: r.Header, Body: body}
	if err := g.validate(ctx, r, route, request); err != nil {
		return err
	}
	returned, err := v.run(ctx, request)
	if err != nil {
		return err
	}
	v.entry.Replayed = returned.IsReplayed()
	return v.answer.take(returned)
}

// refused writes the refusal of an operation. Any other error is a failure of the host and is logged.
func (g *Gate) refused(v *visit, err error) {
	var refusal *wire.Refusal
	if !errors.As(err, &refusal) {
		g.logger.Error("operation failed", "method", v.request.Method, "path", v.request.URL.Path, "error", err)
	}
	v.answer.refuse(err)
}
