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
	Registry *session.KeyRegistry
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

	interception  atomic.Pointer[Interception]
	attempts      attempts
	sentResponses sentResponses
	deliveries    deliveries
	digestKey     string
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

// Reset forgets what faults need: the interception, the counted attempts, the sent responses and the later deliveries.
func (g *Gate) Reset() {
	g.interception.Store(nil)
	g.attempts.reset()
	g.sentResponses.reset()
	g.deliveries.reset()
}

// ServeHTTP handles one request, and adds it to the log.
func (g *Gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.DeliverDue()
	c := g.newCall(r)
	var scripted fault.Fault // no fault does nothing
	var misrouted *sentResponse
	if g.names.AllowArrival(r) {
		c.resolveRoute()
		scripted, misrouted = g.faultFor(c)
		c.entry.Fault = string(scripted.Kind)
		if g.applyBefore(c, scripted) {
			g.handle(c)
			g.sentResponses.remember(c)
			c = g.retryAsProxy(c, scripted)
		}
	} else {
		c.response.refuse(wire.UnknownHost())
	}
	length := g.applyAfter(c, scripted, misrouted)
	c.response.header.Set("Date", g.clock.Now().UTC().Format(http.TimeFormat)) // the host's time, which may have moved
	c.response.finish()
	if length == dropConnection {
		g.record(c, 0, "")
		panic(http.ErrAbortHandler) // closes the connection; a flush would send status 200 and an empty header first
	}
	g.record(c, c.response.status, c.response.slug)
	if scripted.Kind == fault.DeliverTwice {
		g.deliverTwice(c, scripted)
	}
	unread := c.body.respondEarly(w)
	if !c.response.send(w, length) {
		abortConnection(w)
	}
	if unread {
		c.body.drain(w)
	}
}

// handle takes a request through every step, and leaves the response in call.response.
func (g *Gate) handle(c *call) {
	defer func() {
		if cause := recover(); cause != nil {
			g.logger.Error("operation panicked", "operation", c.entry.Operation, "cause", cause, "stack",
				string(debug.Stack()))
			c.response.refuse(wire.InternalError())
		}
	}()
	if !g.available() {
		c.response.refuse(wire.DatabaseUnavailable())
		return
	}
	if c.routeErr != nil {
		g.refuse(c, c.routeErr)
		return
	}
	c.entry.Operation = c.route.operation
	if err := g.runOperation(c); err != nil {
		g.refuse(c, err)
	}
	g.validateResponse(c.response, c.request, c.route, c.parameters)
}

// runOperation checks the request and runs the operation.
func (g *Gate) runOperation(c *call) error {
	caller, err := c.authenticate()
	c.entry.Account = caller.Account
	if err != nil {
		return err
	}
	r, route := c.request, c.route
	if route.addsRecords() {
		if err := g.room(); err != nil {
			return err
		}
	}
	body, err := c.body.read()
	if err != nil {
		return err
	}
	if c.surface.takesKey(route) {
		if caller.IdempotencyKey, err = idempotencyKeyOf(r); err != nil {
			return err
		}
	}
	caller.Seeded = c.entry.Seeded
	ctx := wire.WithCaller(r.Context(), caller)
	r = r.WithContext(ctx)
	request := &wire.Request{Path: c.parameters, Header: r.Header, Body: body}
	if err := g.validate(ctx, r, route, request); err != nil {
		return err
	}
	result, err := c.handler(ctx, request)
	if err != nil {
		return err
	}
	c.entry.Replayed = result.IsReplayed()
	return c.response.setResult(result)
}

// refuse writes the refusal of an operation. Any other error is a failure of the host and is logged.
func (g *Gate) refuse(c *call, err error) {
	var refusal *wire.Refusal
	if !errors.As(err, &refusal) {
		g.logger.Error("operation failed", "method", c.request.Method, "path", c.request.URL.Path, "error", err)
	}
	c.response.refuse(err)
}

// call is one request while it is handled. A fault can have the same request handled twice.
type call struct {
	request  *http.Request
	surface  *surface
	body     *payload
	response *response
	entry    Entry

	route      *route
	handler    func(context.Context, *wire.Request) (wire.Response, error)
	parameters map[string]string
	routeErr   error // why there is no route

	caller  *wire.Caller // nil before authentication
	started time.Time    // on the machine's clock
}

// seedAgent is in the User-Agent of the requests by which the command prepares a host.
const seedAgent = "moneymove-seed"

func (g *Gate) newCall(r *http.Request) *call {
	s := g.surfaceOf(r.URL.Path)
	c := &call{request: r, surface: s, response: newResponse("req_" + rand.Text()), started: time.Now()}
	c.response.detailed = s.detailed
	c.body = &payload{request: r, limit: s.maxBody}
	c.entry.Request = Request{
		Time: g.clock.Now(), Method: r.Method, Path: r.URL.Path, RequestID: c.response.requestID,
	}
	c.entry.IdempotencyKey, _ = idempotencyKeyOf(r)
	c.entry.Seeded = strings.Contains(r.UserAgent(), seedAgent)
	return c
}

// resolveRoute finds the operation and the resource of the request.
func (c *call) resolveRoute() {
	var found *endpoint
	if found, c.parameters, c.routeErr = c.surface.routes.find(c.request); c.routeErr == nil {
		c.route, c.routeErr = found.describe()
	}
	if c.routeErr == nil {
		c.handler = c.surface.operations[found.index].Run
		c.entry.ResourceID = c.parameters[c.route.resource]
	}
}

// authenticate returns the caller of the request, or refuses it.
func (c *call) authenticate() (wire.Caller, error) {
	if c.caller != nil {
		return *c.caller, nil
	}
	caller, err := c.surface.authenticate(c.request, c.route, c.response.requestID)
	if err == nil {
		authenticated := caller
		c.caller = &authenticated
	}
	return caller, err
}

// record adds the request to the log and to the audit, with the response that its caller gets, and calls the observer.
func (g *Gate) record(c *call, status int, slug string) {
	if g.log.length == 0 && g.audit == nil && g.observe == nil {
		return
	}
	c.entry.Status, c.entry.Slug, c.entry.Duration = status, slug, time.Since(c.started)
	var body *platform.BodyDigest
	if c.body.wasRead && c.body.err == nil && len(c.body.bytes) > 0 {
		body = g.digest(c.body.bytes)
		c.entry.BodyDigest = hex.EncodeToString(body[:])
	}
	c.entry = g.log.add(c.entry, g.exchangeOf(c))
	if g.observe != nil {
		g.observe(c.entry)
	}
	if g.audit == nil || c.route == nil || c.entry.Repeated {
		return
	}
	switch c.route.operation {
	case "BookPayout":
		if c.entry.IdempotencyKey != "" {
			g.audit.Requested(requestedAccount(c.request), c.entry.IdempotencyKey, body)
		}
	case "ConfirmPayout":
		g.audit.Confirmed(c.entry.ResourceID)
	}
}

// exchangeOf returns what was sent, or nil if the log does not keep it.
func (g *Gate) exchangeOf(c *call) *Exchange {
	if !g.log.records() {
		return nil
	}
	var body []byte // a body that nobody read is not kept
	if c.body.wasRead {
		body = c.body.bytes
	}
	sent := &Exchange{Request: NewMessage(c.request.Header, c.request.URL.RawQuery, body)}
	if c.entry.Status != 0 {
		sent.Response = NewMessage(c.response.header, "", c.response.body)
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
