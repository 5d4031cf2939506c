package simulation

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing/iotest"
	"time"

	"github.com/moneymovement/moneymovement-go/sandbox"
)

// Network carries the requests of all processes to the host. It loses, copies, delays and changes them as the seed
// says. Everything that reaches the host is one step, and so is everything that comes back.
type Network struct {
	seed      Seed
	scheduler *Scheduler
	host      *sandbox.Host
	rate      float64 // the part of all requests with a fault
	calm      atomic.Bool
	closed    atomic.Bool // nothing is carried any more
	books     *Books

	mu       sync.Mutex
	copies   int            // requests that arrive later
	counts   map[string]int // requests so far, by process, label and operation
	planned  map[Kind]int
	consumed map[Kind]int
	last     map[string]*response // the last good response of an operation
}

func newNetwork(seed Seed, s *Scheduler, host *sandbox.Host, rate float64) *Network {
	return &Network{
		seed: seed, scheduler: s, host: host, rate: rate, counts: map[string]int{},
		books:   newBooks(func() []sandbox.LedgerEntry { return host.Ledger().Entries }),
		planned: map[Kind]int{}, consumed: map[Kind]int{}, last: map[string]*response{},
	}
}

// Of returns the network as a process sees it.
func (n *Network) Of(p *Process) http.RoundTripper { return connection{n, p} }

type connection struct {
	network *Network
	process *Process
}

// sent is one request.
type sent struct {
	name      string // without the process
	label     string
	operation string
	request   *http.Request
	body      []byte
	unread    bool // a transfer for which the same was true before: see Books
}

// response is what the host returned.
type response struct {
	status int
	header http.Header
	body   []byte
}

// RoundTrip implements http.RoundTripper.
func (c connection) RoundTrip(r *http.Request) (*http.Response, error) {
	request, err := c.read(r)
	if err != nil {
		return nil, err
	}
	n := c.network
	fault := n.plan(c.process.name+" "+request.name, request)
	n.books.sends(c.process, request)
	if fault.Kind == SlowRequest {
		n.begin(fault)
		n.consume(fault)
		if err := pause(r.Context(), fault.Wait); err != nil {
			n.copy(c.process, request, time.Second) // the caller gave up, and the request arrives nevertheless
			return nil, err
		}
	}
	if !c.process.reaches(request.name+": sent", digest(request.body)+fault.String()) {
		if n.seed.Draw("a dead process's request", c.process.name, request.name).IntN(2) == 0 {
			n.copy(c.process, request, time.Second)
		}
		runtime.Goexit()
	}
	if fault.Kind != SlowRequest {
		n.begin(fault)
	}
	got, err := c.pass(request, fault)
	if fault.Kind == SlowResponse {
		n.consume(fault)
		if err := pause(r.Context(), fault.Wait); err != nil {
			return nil, err
		}
	}
	c.process.Step(request.name+": back", got.summary(err))
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	if err != nil {
		return nil, err
	}
	n.books.seen(c.process, request, got)
	return got.response(r, fault), nil
}

// pass delivers a request, unless a fault prevents it, and returns what the caller gets.
func (c connection) pass(request *sent, fault Fault) (*response, error) {
	n := c.network
	switch fault.Kind {
	case LostBefore:
		n.consume(fault)
		return nil, &lost{fault.Kind}
	case RefusedBefore:
		n.consume(fault)
		return n.refusal(fault), nil
	case Redirected:
		n.consume(fault)
		return n.redirect(fault, request), nil
	case TokenExpired:
		n.host.Arm(request.request.Method, request.request.URL.Path, sandbox.ExpireToken())
		n.consume(fault)
	}
	got := n.deliver(request)
	switch fault.Kind {
	case CopyNow, CopyLater:
		if request.operation == "transfer" && got.status >= http.StatusBadRequest {
			n.consume(fault) // its copy could pay after the refusal was believed: no client can prevent that
			break
		}
		n.copy(c.process, request, max(fault.Wait, time.Millisecond), fault)
	case LostAfter:
		n.consume(fault)
		return nil, &lost{fault.Kind}
	case RefusedAfter:
		n.consume(fault)
		return n.refusal(fault), nil
	case Foreign:
		n.consume(fault)
		return n.foreign(fault, request, got), nil
	case Truncated:
		n.consume(fault)
	}
	return got, nil
}

// settled waits until all copies have arrived.
func (n *Network) settled() {
	for n.outstanding() > 0 {
		<-time.After(time.Second)
	}
}

func (n *Network) outstanding() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.copies
}

// copy delivers a request again later. Nobody sees the response.
func (n *Network) copy(p *Process, request *sent, after time.Duration, faults ...Fault) {
	again := *request
	if n.closed.Load() {
		return
	}
	n.mu.Lock()
	n.copies++
	n.mu.Unlock()
	go func() {
		defer func() {
			n.mu.Lock()
			defer n.mu.Unlock()
			n.copies--
		}()
		<-time.After(after)
		n.scheduler.Step("network: copy of "+p.name+" "+again.name, "")
		n.deliver(&again)
		for _, fault := range faults {
			n.consume(fault)
		}
	}()
}

// deliver lets the host serve a request.
func (n *Network) deliver(request *sent) *response {
	r := httptest.NewRequestWithContext(context.Background(), request.request.Method, request.request.URL.String(),
		bytes.NewReader(request.body))
	for name, values := range request.request.Header {
		r.Header[http.CanonicalHeaderKey(name)] = values
	}
	recorder := httptest.NewRecorder()
	n.host.ServeHTTP(recorder, r)
	got := &response{recorder.Code, recorder.Header(), recorder.Body.Bytes()}
	if n.books.served(request, got) && n.seed.Draw("as a repetition", request.label).IntN(2) == 0 {
		got.status = http.StatusOK // the host has forgotten the key, and says that it has not
		got.header.Set("Idempotency-Replayed", "true")
	}
	if got.status < http.StatusMultipleChoices {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.last[request.operation] = got
	}
	return got
}

func (c connection) read(r *http.Request) (*sent, error) {
	var body []byte
	if r.Body != nil {
		defer r.Body.Close()
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
	}
	s := &sent{label: labelOf(r.Context()), operation: operationOf(r), request: r, body: body}
	if strings.HasPrefix(s.operation, "auth") {
		s.label = "session" // shared by the calls that wait for it, so that nobody knows which of them began it
	}
	c.network.mu.Lock()
	defer c.network.mu.Unlock()
	name := c.process.name + " " + s.label + " " + s.operation
	c.network.counts[name]++
	s.name = s.label + " " + s.operation + " " + strconv.Itoa(c.network.counts[name])
	return s, nil
}

// operationOf returns the name of a request without its ids.
func operationOf(r *http.Request) string {
	path, platform := strings.CutPrefix(r.URL.Path, "/dapi/v1/")
	if !platform {
		return strings.TrimPrefix(path, "/apps/")
	}
	parts := strings.Split(path, "/")
	switch {
	case parts[0] == "auth":
		return strings.Join(parts, " ")
	case len(parts) == 5: // of an escrow
		return "confirm action"
	case len(parts) == 3 && parts[2] == "actions":
		return "prepare"
	case len(parts) == 3:
		return parts[2]
	case len(parts) == 2:
		return "read " + parts[0]
	case r.Method == http.MethodPost:
		return "book " + parts[0]
	}
	return "list " + parts[0]
}

func (n *Network) plan(name string, request *sent) Fault {
	if n.calm.Load() {
		return Fault{}
	}
	fault := n.seed.fault(n.rate, name)
	if fault.Kind == TokenExpired && (strings.HasPrefix(request.operation, "auth") || ofApp(request.operation)) {
		fault = Fault{} // a login and the app API have no token
	}
	return fault
}

// ofApp reports an operation of the app API.
func ofApp(operation string) bool { return operation == "transfer" || operation == "transfers" }

// begin counts a fault that is about to happen. [Network.consume] counts it when it has happened.
func (n *Network) begin(fault Fault) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if fault.Kind != "" {
		n.planned[fault.Kind]++
	}
}

func (n *Network) consume(fault Fault) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.consumed[fault.Kind]++
}

// summary says in a trace what came back.
func (a *response) summary(err error) string {
	if err != nil {
		return err.Error()
	}
	return strconv.Itoa(a.status) + " " + digest(a.body)
}

// response makes the response that the client reads.
func (a *response) response(r *http.Request, fault Fault) *http.Response {
	body := io.Reader(bytes.NewReader(a.body))
	if fault.Kind == Truncated {
		body = io.MultiReader(bytes.NewReader(a.body[:len(a.body)/2]), iotest.ErrReader(io.ErrUnexpectedEOF))
	}
	return &http.Response{
		StatusCode: a.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: a.header.Clone(),
		Body: io.NopCloser(body), ContentLength: int64(len(a.body)), Request: r,
	}
}

// digest is a short form of a body.
func digest(body []byte) string {
	if len(body) == 0 {
		return ""
	}
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:6])
}

// pause waits, unless the context ends.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Fault is what goes wrong with one request.
type Fault struct {
	Kind   Kind
	Status int           // of a refusal
	Slug   string        // of a refusal; "" for a page that is not the service's
	After  string        // Retry-After of a refusal, "" for none
	Wait   time.Duration // of a slow request or response, and until a copy arrives
}

// Kind is a kind of fault.
type Kind string

// The kinds of faults. "Before" means that the host does not see the request, "after" that it carries it out.
const (
	LostBefore    Kind = "lost before"
	LostAfter     Kind = "lost after"
	CopyNow       Kind = "copied at once"
	CopyLater     Kind = "copied later"
	RefusedBefore Kind = "refused before"
	RefusedAfter  Kind = "refused after"
	Truncated     Kind = "truncated"
	Foreign       Kind = "foreign page"
	Redirected    Kind = "redirected"
	TokenExpired  Kind = "token expired"
	SlowRequest   Kind = "slow request"
	SlowResponse  Kind = "slow response"
)

// String returns the fault as the trace shows it.
func (f Fault) String() string {
	if f.Kind == "" {
		return ""
	}
	text := string(f.Kind)
	if f.Status != 0 {
		text += " " + strconv.Itoa(f.Status) + " " + f.Slug
	}
	if f.After != "" {
		text += " Retry-After " + f.After
	}
	if f.Wait != 0 {
		text += " " + f.Wait.String()
	}
	return "[" + text + "]"
}

// refusals are what a refused request gets. A refusal before the request is carried out may be any. Afterwards, only a
// failure of the service or of something in front of it can hide what was done: a 4xx in the service's own words is
// about the request, which was then not carried out.
var (
	refusalsBefore = []Fault{
		{Status: http.StatusInternalServerError, Slug: "internal_error"},
		{Status: http.StatusBadGateway, Slug: "provider_unavailable"},
		{Status: http.StatusServiceUnavailable, Slug: "database_unavailable"},
		{Status: http.StatusServiceUnavailable, Slug: "provider_unavailable", After: "7"},
		{Status: http.StatusGatewayTimeout},
		{Status: http.StatusRequestTimeout},
		{Status: http.StatusForbidden, Slug: "forbidden"},
		{Status: http.StatusForbidden},
		{Status: http.StatusConflict, Slug: "conflict"},
		{Status: http.StatusNotFound, Slug: "not_found"},
		{Status: http.StatusUnauthorized, Slug: "unauthenticated"},
		{Status: http.StatusTooManyRequests, Slug: "rate_limited"},
		{Status: http.StatusTooManyRequests, Slug: "rate_limited", After: "0"},
		{Status: http.StatusTooManyRequests, Slug: "rate_limited", After: "3"},
		{Status: http.StatusTooManyRequests, Slug: "rate_limited", After: "61"},
		{Status: http.StatusTooManyRequests, Slug: "rate_limited", After: "300"},
		{Status: http.StatusTooManyRequests, Slug: "rate_limited", After: "date"},
		{Status: http.StatusTooManyRequests, Slug: "rate_limited", After: "soon"},
		{Status: http.StatusTooManyRequests, Slug: "rate_limited", After: "99999999999999999999"},
		{Status: http.StatusTooManyRequests, After: "5"},
	}
	refusalsAfter = []Fault{
		{Status: http.StatusInternalServerError, Slug: "internal_error"},
		{Status: http.StatusBadGateway, Slug: "provider_unavailable"},
		{Status: http.StatusServiceUnavailable, Slug: "database_unavailable"},
		{Status: http.StatusBadGateway},
		{Status: http.StatusGatewayTimeout},
		{Status: http.StatusRequestTimeout},
		{Status: http.StatusUnauthorized},
		{Status: http.StatusForbidden},
		{Status: http.StatusNotFound},
	}
	foreign = []Fault{
		{Status: http.StatusOK, Slug: "page"}, {Status: http.StatusOK, Slug: "empty"},
		{Status: http.StatusOK, Slug: "braces"}, {Status: http.StatusCreated, Slug: "list"},
		{Status: http.StatusOK, Slug: "other"}, {Status: http.StatusNoContent, Slug: "empty"},
	}
	redirects = []int{http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect,
		http.StatusPermanentRedirect}
)

// kinds has each kind as often as it should occur among the faults.
var kinds = []Kind{
	LostBefore, LostBefore, LostAfter, LostAfter, LostAfter, CopyNow, CopyLater, CopyLater, RefusedBefore,
	RefusedBefore, RefusedBefore, RefusedAfter, RefusedAfter, Truncated, Foreign, Redirected, TokenExpired,
	SlowRequest, SlowResponse,
}

// fault draws what goes wrong with a request: usually nothing. rate is the part of all requests that something goes
// wrong with.
func (s Seed) fault(rate float64, name string) Fault {
	random := s.Draw("fault", name)
	if random.Float64() >= rate {
		return Fault{}
	}
	f := Fault{Kind: kinds[random.IntN(len(kinds))]}
	switch f.Kind {
	case RefusedBefore:
		chosen := refusalsBefore[random.IntN(len(refusalsBefore))]
		chosen.Kind = f.Kind
		return chosen
	case RefusedAfter:
		chosen := refusalsAfter[random.IntN(len(refusalsAfter))]
		chosen.Kind = f.Kind
		return chosen
	case Foreign:
		chosen := foreign[random.IntN(len(foreign))]
		chosen.Kind = f.Kind
		return chosen
	case Redirected:
		f.Status = redirects[random.IntN(len(redirects))]
	case CopyLater:
		f.Wait = between(random, time.Second, 12*time.Hour)
	case SlowRequest, SlowResponse:
		f.Wait = between(random, 100*time.Millisecond, 100*time.Second)
	case LostBefore, LostAfter, CopyNow, Truncated, TokenExpired:
	}
	return f
}

// lost is the error of a connection that broke.
type lost struct{ kind Kind }

func (l *lost) Error() string { return fmt.Sprintf("the simulated connection broke: %s", l.kind) }

// page is what a proxy shows.
const page = "<!DOCTYPE html><html><body><h1>Something is wrong</h1></body></html>"

// refusal returns the response of a refused request: the service's envelope, or the page of a proxy.
func (n *Network) refusal(fault Fault) *response {
	a := n.respond(fault.Status, "application/json",
		fmt.Sprintf(`{"error":{"code":%q,"message":"A simulated refusal.","details":{"requestId":"req_simulated"}}}`,
			fault.Slug))
	if fault.Slug == "" {
		a = n.respond(fault.Status, "text/html", page)
	}
	switch fault.After {
	case "":
	case "date":
		a.header.Set("Retry-After", n.host.Now().Add(9*time.Second).Format(http.TimeFormat))
	default:
		a.header.Set("Retry-After", fault.After)
	}
	return a
}

// redirect sends the caller to another host. Nobody is there: the SDK must not follow.
func (n *Network) redirect(fault Fault, request *sent) *response {
	a := n.respond(fault.Status, "text/html", page)
	a.header.Set("Location", "https://elsewhere.example"+request.request.URL.Path)
	return a
}

// foreign returns a body that is not the response to the request, with the status of a success.
func (n *Network) foreign(fault Fault, request *sent, got *response) *response {
	switch fault.Slug {
	case "empty":
		return n.respond(fault.Status, "application/json", "")
	case "braces":
		return n.respond(fault.Status, "application/json", "{}")
	case "list":
		return n.respond(fault.Status, "application/json", "[]")
	case "other":
		n.mu.Lock()
		defer n.mu.Unlock()
		of := "read payouts"
		if request.operation == "sync" {
			of = "sync"
		}
		if other := n.last[of]; other != nil && request.label != "session" {
			return other // about another payment, or an older state of this one
		}
		return got
	}
	return n.respond(fault.Status, "text/html", page)
}

func (n *Network) respond(status int, kind, body string) *response {
	return &response{status, http.Header{
		"Content-Type": {kind}, "Date": {n.host.Now().Format(http.TimeFormat)},
	}, []byte(body)}
}
