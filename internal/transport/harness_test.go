package transport_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/transport"
	"github.com/moneymovement/moneymovement-go/internal/wire"
)

// The operations of the tests: one for each kind of repetition in the description.
var (
	readThing = transport.Operation{ID: "GetThing", Method: http.MethodGet, Path: "/things/{thingId}",
		Window: moneymovement.WindowReads, Response: &thingResponse}
	bookThing = transport.Operation{ID: "BookThing", Method: http.MethodPost, Path: "/things",
		Repeat: transport.RepeatKey, Derives: true, Window: moneymovement.WindowWrites, Response: &thingResponse}
	sendThing = transport.Operation{ID: "SendThing", Method: http.MethodPost, Path: "/things/send",
		Repeat: transport.RepeatKey, Money: transport.MoneyAtOnce, Response: &thingResponse}
	confirmThing = transport.Operation{ID: "ConfirmThing", Method: http.MethodPost, Path: "/things/{thingId}/confirm",
		Repeat: transport.RepeatNatural, Window: moneymovement.WindowWrites, Response: &thingResponse}
	deleteThing = transport.Operation{ID: "DeleteThing", Method: http.MethodDelete, Path: "/things/{thingId}",
		Repeat: transport.RepeatNatural, Window: moneymovement.WindowWrites, Response: &thingResponse}
	spendThing = transport.Operation{ID: "SpendThing", Method: http.MethodPost, Path: "/things/{thingId}/spend",
		Repeat: transport.RepeatNever, Window: moneymovement.WindowWrites, Response: &thingResponse}
	loginThing = transport.Operation{ID: "LogIn", Method: http.MethodPost, Path: "/auth/things",
		Repeat: transport.RepeatNatural, Window: moneymovement.WindowLogin, Public: true, Response: &thingResponse}
)

// thing is a response in the form of the generated models.
type thing struct {
	ID     string           `json:"id,omitempty"`
	Amount decimal.Decimal  `json:"amount"`
	Fee    *decimal.Decimal `json:"fee"`
	Status string           `json:"status"`
	Note   string           `json:"note"`
	Tags   []string         `json:"tags"`
}

var thingShape = wire.Shape{Kind: wire.KindObject, Members: []wire.Member{
	{Name: "id", Shape: &wire.Text, Type: wire.Stated},
	{Name: "amount", Shape: &wire.Amount, Type: wire.Stated},
	{Name: "fee", Shape: &wire.Amount, Type: wire.Assumed, Nullable: true},
	{Name: "status", Shape: &wire.Text, Type: wire.Assumed},
	{Name: "note", Shape: &wire.Text, Type: wire.Assumed},
	{Name: "tags", Shape: &wire.Shape{Kind: wire.KindList, Item: &wire.Text}, Type: wire.Assumed},
}, Fields: fieldOfThing}

func fieldOfThing(object any, name []byte) (int, any) {
	v := object.(*thing)
	switch string(name) {
	case "id":
		return 0, &v.ID
	case "amount":
		return 1, &v.Amount
	case "fee":
		return 2, wire.Optional(&v.Fee)
	case "status":
		return 3, &v.Status
	case "note":
		return 4, &v.Note
	case "tags":
		return 5, wire.List(&v.Tags)
	}
	return -1, nil
}

var thingResponse = wire.Response{Shape: &thingShape}

const oneThing = `{"id":"th_1","amount":"10.50","status":"ready"}`

// idRule is the description's pattern of a contact's id.
var idRule = transport.Rule{Prefix: "ct_", Pattern: `^(?:ct_)?[A-Za-z0-9._:\-]{1,216}$`}

// request is a call of an operation, with a valid id and, if it takes one, a body.
func request(op *transport.Operation, call transport.Call) *transport.Request {
	r := transport.NewRequest(op, "", call)
	if strings.Contains(op.Path, "{thingId}") {
		r.PathParam("thingId", "ct_1", idRule)
	}
	if op.Method == http.MethodPost {
		r.Body(map[string]string{"name": "Bob"}, nil)
	}
	return r
}

// send makes one call of an operation.
func send(ctx context.Context, c *transport.Client, op *transport.Operation, call transport.Call) (*thing, error) {
	return transport.Do[thing](ctx, c, request(op, call))
}

// sendKeyed makes one call of an operation, with a key if it is a write.
func sendKeyed(ctx context.Context, c *transport.Client, op *transport.Operation, call transport.Call) (*thing, error) {
	if op.Method != http.MethodGet {
		call.Key = "invoice-42"
	}
	return send(ctx, c, op, call)
}

// newClient returns a client without rate windows and with short waits, unless set changes that.
func newClient(t *testing.T, baseURL string, set ...func(*transport.Config)) *transport.Client {
	t.Helper()
	config := transport.Config{ClientSettings: moneymovement.ClientSettings{
		Retries: moneymovement.RetryPolicy{WaitMin: time.Millisecond}}}
	for _, f := range set {
		f(&config)
	}
	if config.HTTPClient == nil {
		own := &http.Transport{}
		t.Cleanup(own.CloseIdleConnections)
		config.HTTPClient = &http.Client{Transport: own}
	}
	client, err := transport.New(baseURL, "/v1", config)
	require.NoError(t, err)
	return client
}

// windows are those of a limiter.
type windows = map[moneymovement.Window]moneymovement.Allowance

const host = "https://service.example"

func through(next http.RoundTripper) func(*transport.Config) {
	return func(c *transport.Config) { c.HTTPClient = &http.Client{Transport: next} }
}

func retries(policy moneymovement.RetryPolicy) func(*transport.Config) {
	return func(c *transport.Config) { c.Retries = policy }
}

func authorizedBy(a transport.Authorizer) func(*transport.Config) {
	return func(c *transport.Config) { c.Auth = a }
}

func limitedBy(l moneymovement.RateLimiter) func(*transport.Config) {
	return func(c *transport.Config) { c.RateLimiter = l }
}

// step handles one attempt.
type step func(*http.Request) (*http.Response, error)

// RoundTrip makes a step a service that always does the same.
func (s step) RoundTrip(req *http.Request) (*http.Response, error) { return s(req) }

// service is a service in memory with a script: one step for each attempt, and the last step for all further attempts.
// It is safe for concurrent use.
type service struct {
	mu    sync.Mutex
	steps []step
	got   []received
}

// received is one attempt as the service saw it.
type received struct {
	method, uri string
	header      http.Header
	body        string
	at          time.Time
}

func script(steps ...step) *service { return &service{steps: steps} }

func (s *service) RoundTrip(req *http.Request) (*http.Response, error) {
	got := received{method: req.Method, uri: req.URL.RequestURI(), header: req.Header.Clone(), at: time.Now()}
	if req.Body != nil {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return nil, err
		}
		got.body = string(body)
		_ = req.Body.Close()
	}
	s.mu.Lock()
	now := s.steps[min(len(s.got), len(s.steps)-1)]
	s.got = append(s.got, got)
	s.mu.Unlock()
	return now(req)
}

func (s *service) attempts() []received {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.got[:len(s.got):len(s.got)]
}

// keys returns the idempotency keys of the attempts. Their header is not canonical, so Header.Get would not find it.
func keys(attempts []received) []string {
	found := make([]string, len(attempts))
	for i, a := range attempts {
		for name, values := range a.header {
			if strings.EqualFold(name, "Idempotency-Key") {
				found[i] = values[0]
			}
		}
	}
	return found
}

// responds returns a response with a status, a body and headers in pairs. Its default Content-Type is JSON.
func responds(status int, body string, header ...string) step {
	return func(req *http.Request) (*http.Response, error) {
		h := http.Header{"Content-Type": {"application/json"}}
		for i := 0; i < len(header); i += 2 {
			h.Set(header[i], header[i+1])
		}
		return &http.Response{
			StatusCode: status, Status: http.StatusText(status), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
			Header: h, Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)), Request: req,
		}, nil
	}
}

// refuses returns a refusal in the platform's envelope.
func refuses(status int, code errors.Code, header ...string) step {
	return responds(status, fmt.Sprintf(`{"error":{"code":%q,"message":"no"}}`, code), header...)
}

// page returns a gateway's HTML page.
func page(status int) step {
	return responds(status, "<html>sorry</html>", "Content-Type", "text/html")
}

// fails is an attempt that fails with an error.
func fails(err error) step {
	return func(*http.Request) (*http.Response, error) { return nil, err }
}

// Other ends of an attempt.
var (
	noConnection   = fails(&net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED})
	noSuchHost     = fails(&net.DNSError{Err: "no such host", Name: "service.example", IsNotFound: true})
	lostResponse   = fails(&net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET})
	brokenResponse = step(func(req *http.Request) (*http.Response, error) {
		resp, _ := responds(http.StatusOK, oneThing, "X-Request-ID", "req_broken")(req)
		resp.Body = io.NopCloser(io.MultiReader(strings.NewReader(oneThing[:10]), failingReader{io.ErrUnexpectedEOF}))
		return resp, nil
	})
	ok = responds(http.StatusOK, oneThing)
)

type failingReader struct{ err error }

func (r failingReader) Read([]byte) (int, error) { return 0, r.err }
