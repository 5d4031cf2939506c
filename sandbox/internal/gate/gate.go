package gate

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"time"

	"github.com/getkin/kin-openapi/openapi3filter"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/clock"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/fault"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/platform"
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
	Audit  *platform.Audit // nil without one
	Names  HostNames       // names of the host

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
	audit      *platform.Audit
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

// visit is one arrival of a request. A fault can make a request arrive twice.
type visit struct {
	request *http.Request
	surface *surface
	body    *payload
	answer  *answer
	entry   Entry

	route      *route
	run        func(context.Context, *wire.Request) (wire.Answer, error)
	parameters map[string]string
	unknown    error // why there is no route

	admitted *wire.Caller // nil until the caller was admitted
	began    time.Time    // on the machine's clock
}

// seedAgent is in the User-Agent of the requests by which the command prepares a host.
const seedAgent = "moneymove-seed"

func (g *Gate) newVisit(r *http.Request) *visit {
	s := g.surfaceOf(r.URL.Path)
	v := &visit{request: r, surface: s, answer: newAnswer("req_" + rand.Text()), began: time.Now()}
	v.answer.detailed = s.detailed
	v.body = &payload{request: r, limit: s.maxBody}
	v.entry.Request = Request{
		Time: g.clock.Now(), Method: r.Method, Path: r.URL.Path, RequestID: v.answer.requestID,
	}
	v.entry.IdempotencyKey, _ = idempotencyKeyOf(r)
	v.entry.Seeded = strings.Contains(r.UserAgent(), seedAgent)
	return v
}

// find finds the operation and the resource of the request.
func (v *visit) find() {
	var found *endpoint
	if found, v.parameters, v.unknown = v.surface.routes.find(v.request); v.unknown == nil {
		v.route, v.unknown = found.open()
	}
	if v.unknown == nil {
		v.run = v.surface.served[found.index].Run
		v.entry.ResourceID = v.parameters[v.route.resource]
	}
}

// admit returns the caller of the request, or refuses it.
func (v *visit) admit() (wire.Caller, error) {
	if v.admitted != nil {
		return *v.admitted, nil
	}
	who, err := v.surface.admit(v.request, v.route, v.answer.requestID)
	if err == nil {
		admitted := who
		v.admitted = &admitted
	}
	return who, err
}

// note adds the request to the log and to the audit, with the response that its caller gets, and calls the observer.
func (g *Gate) note(v *visit, status int, slug string) {
	if g.log.length == 0 && g.audit == nil && g.observe == nil {
		return
	}
	v.entry.Status, v.entry.Slug, v.entry.Duration = status, slug, time.Since(v.began)
	var body *platform.BodyDigest
	if v.body.wasRead && v.body.refused == nil && len(v.body.bytes) > 0 {
		body = g.digest(v.body.bytes)
		v.entry.BodyDigest = hex.EncodeToString(body[:])
	}
	v.entry = g.log.add(v.entry, g.exchangeOf(v))
	if g.observe != nil {
		g.observe(v.entry)
	}
	if g.audit == nil || v.route == nil || v.entry.Repeated {
		return
	}
	switch v.route.operation {
	case "BookPayout":
		if v.entry.IdempotencyKey != "" {
			g.audit.Requested(askedAccount(v.request), v.entry.IdempotencyKey, body)
		}
	case "ConfirmPayout":
		g.audit.Confirmed(v.entry.ResourceID)
	}
}

// exchangeOf returns what was sent, or nil if the log does not keep it.
func (g *Gate) exchangeOf(v *visit) *Exchange {
	if !g.log.records() {
		return nil
	}
	var body []byte // a body that nobody read is not kept
	if v.body.wasRead {
		body = v.body.bytes
	}
	sent := &Exchange{Request: NewMessage(v.request.Header, v.request.URL.RawQuery, body)}
	if v.entry.Status != 0 {
		sent.Response = NewMessage(v.answer.header, "", v.answer.body)
	}
	return sent
}

// digest returns a digest that is the same for the same bytes. It depends on a key of this gate: the plain digest of a
// short body, such as one with a PIN, would give the body away.
func (g *Gate) digest(body []byte) *platform.BodyDigest {
	hash := sha256.New()
	hash.Write([]byte(g.digestKey))
	hash.Write(body)
	digest := platform.BodyDigest(hash.Sum(nil)[:16])
	return &digest
}

// resourceOf returns the name of the last parameter of a path.
func resourceOf(path string) string {
	start := strings.LastIndexByte(path, '{')
	if start < 0 {
		return ""
	}
	name, _, _ := strings.Cut(path[start+1:], "}")
	return name
}
