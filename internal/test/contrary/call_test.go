package contrary_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/appapi"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/contract/wire"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/internal/inprocess"
	"github.com/moneymovement/moneymovement-go/internal/test/contrary"
	"github.com/moneymovement/moneymovement-go/openapi"
	"github.com/moneymovement/moneymovement-go/public"
	"github.com/moneymovement/moneymovement-go/recorded"
	"github.com/moneymovement/moneymovement-go/refapi"
	"github.com/moneymovement/moneymovement-go/signing"
)

// call is one call of an operation through the public API, with what is asked as trees of JSON. A call of package dapi
// acts for a client where the operation can.
type call struct {
	*testing.T
	operation *wire.Operation
	shared    bool // other tests use the same call, so it is not recorded
	platform  *dapi.Integrator
	acme      *dapi.Account // acts for a client
	app       *appapi.Client
	reference *refapi.Client
	public    *public.Client

	path     map[string]string
	query    any
	header   any
	body     any
	response moneymovement.Response // of the last call

	logsIn func(dapi.TokenStore) *dapi.Integrator // makes a client with another store of its session
}

func (c *call) options() []moneymovement.CallOption {
	return []moneymovement.CallOption{moneymovement.CaptureResponseWithSecrets(&c.response)}
}

// keyed are the options of a write that a key anchors.
func (c *call) keyed() []moneymovement.WriteOption {
	return []moneymovement.WriteOption{
		moneymovement.IdempotencyKey(sampleKey), moneymovement.CaptureResponseWithSecrets(&c.response),
	}
}

// as reads what is asked into the type that the SDK takes.
func as[T any](c *call, tree any) T {
	c.Helper()
	var value T
	if tree != nil {
		require.NoError(c, json.Unmarshal(encode(tree), &value), "%s", encode(tree))
	}
	return value
}

// member is a member of what is asked; nil if it is not there.
func member(tree any, name string) any {
	object, _ := tree.(map[string]any)
	return object[name]
}

func text(tree any, name string) string {
	found, _ := member(tree, name).(string)
	return found
}

// ask fills a call with complete samples of what its operation takes.
func (c *call) ask(variants map[int][]string) {
	c.path, c.query, c.header, c.body = map[string]string{}, map[string]any{}, map[string]any{}, nil
	for _, parameter := range c.operation.Parameters() {
		name, schema := parameter.At("name").Text(), parameter.At("schema")
		s := &sampler{}
		value, _ := s.value([]string{name}, schema.Layers())
		switch parameter.At("in").Text() {
		case "path":
			c.path[name] = fmt.Sprint(value)
		case "query":
			c.query = put(c.query, pointer{name}, value, true)
		case "header":
			c.header = put(c.header, pointer{name}, value, true)
		}
	}
	if body := c.operation.Body(); body.Exists() {
		c.body = sample(body, variants)
	}
	if adjust := adjusted[c.operation.Name()]; adjust != nil {
		adjust(c)
	}
}

// session keeps logins out of single calls.
type session struct{}

func (session) Load(context.Context) (dapi.Session, error) { return sessionFor(time.Hour), nil }

func (session) Save(context.Context, dapi.Session) error { return nil }

// sessionFor is a session whose access token lives that long.
func sessionFor(lives time.Duration) dapi.Session {
	now := time.Now()
	return dapi.Session{AccessToken: moneymovement.NewSecret("token"), RefreshToken: moneymovement.NewSecret("refresh"),
		ExpiresAt: now.Add(lives), RefreshExpiresAt: now.Add(time.Hour)}
}

// named is a store whose sessions are those of a credential.
type named struct {
	dapi.TokenStore
	credential string
}

func (n named) Load(ctx context.Context) (dapi.Session, error) {
	session, err := n.TokenStore.Load(ctx)
	session.Credential = n.credential
	return session, err
}

// anyApproval signs whatever the sample service gives.
func anyApproval(context.Context, signing.Approval, signing.Intent) error { return nil }

// developerKey is one for all, since making one takes time.
var developerKey = sync.OnceValues(func() (*signing.DeveloperKey, error) { return signing.Generate() })

const baseURL = "http://127.0.0.1"

// newCall makes the clients of a service that is in memory. They send everything once.
func newCall(t *testing.T, o *wire.Operation, handler http.Handler) *call {
	t.Helper()
	return newCallAt(t, baseURL, o, handler)
}

func newCallAt(
	t *testing.T, baseURL string, o *wire.Operation, handler http.Handler, more ...moneymovement.Option,
) *call {
	t.Helper()
	c := &call{T: t, operation: o}
	options := []moneymovement.Option{
		moneymovement.WithHTTPClient(&http.Client{Transport: &inprocess.Transport{
			Handler: handler,
		}}),
		moneymovement.WithoutPacing(),
		moneymovement.WithRetries(moneymovement.RetryPolicy{Max: -1}),
	}
	options = append(options, more...)
	key, err := developerKey()
	require.NoError(t, err)
	c.logsIn = func(store dapi.TokenStore) *dapi.Integrator {
		developer := dapi.Developer{Email: "ops@example.com", Key: key, Verifier: anyApproval}
		developer.Store = named{store, developer.Credential(baseURL)}
		platform, err := dapi.NewIntegrator(baseURL, developer, options...)
		require.NoError(t, err)
		return platform
	}
	c.platform = c.logsIn(session{})
	c.acme = c.platform.For("cl_1")
	c.app, err = appapi.New(baseURL, appapi.NewAPIKey("key"), options...)
	require.NoError(t, err)
	c.reference, err = refapi.New(baseURL, refapi.Credential{AccessToken: refapi.NewAccessToken("token")}, options...)
	require.NoError(t, err)
	c.public, err = public.New(baseURL, options...)
	require.NoError(t, err)
	return c
}

// sampleService responds to every operation with a complete sample of what it describes.
type sampleService struct {
	description *wire.Description
	variants    map[int][]string
}

// ServeHTTP implements http.Handler.
func (s sampleService) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	o := s.description.Find(r.Method, r.URL.Path)
	if o == nil {
		http.NotFound(w, r)
		return
	}
	status, described := success(o)
	w.Header().Set("X-Request-Id", "req_1")
	content := described.Target().At("content")
	schema := content.At("application/json", "schema")
	switch {
	case schema.Exists():
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = w.Write(s.body(o, schema))
	case content.Exists():
		w.Header().Set("Content-Type", "application/pdf")
		w.WriteHeader(status)
		_, _ = w.Write([]byte("%PDF-1.7"))
	default:
		w.WriteHeader(status)
	}
}

// bodies are made once, by operation and variants.
var bodies sync.Map

func (s sampleService) body(o *wire.Operation, schema wire.Node) []byte {
	key := fmt.Sprint(o.Name(), s.variants)
	if made, known := bodies.Load(key); known {
		if body, is := made.([]byte); is {
			return body
		}
	}
	whole := sample(schema, s.variants)
	for name, value := range fixedMembers[o.Name()] {
		whole = put(whole, pointer{name}, value, true)
	}
	body := encode(whole)
	bodies.Store(key, body)
	return body
}

// success is the described response of success, that of a new thing first.
func success(o *wire.Operation) (status int, described wire.Node) {
	for _, status := range []int{201, 200, 202, 204} {
		if described, exact := o.Response(status); exact {
			return status, described
		}
	}
	return 0, wire.Node{}
}

// adjusted makes a complete request one that a service takes.
var adjusted = map[string]func(*call){
	"appapi CreateTransfer": func(c *call) { // exactly one of three
		c.body = put(put(c.body, pointer{"quoteId"}, nil, false), pointer{"invoiceId"}, nil, false)
	},
}

// fixedMembers are members whose values have to go with what the call asks.
var fixedMembers = map[string]map[string]any{
	"dapi ConfirmPayout": {"status": "completed"},
	"dapi GetPayout":     {"status": "completed"},
	"dapi CreateToken":   {"expiresIn": 3600, "refreshExpiresIn": 7200},
	"dapi RefreshToken":  {"expiresIn": 3600, "refreshExpiresIn": 7200},
	"dapi ConfirmEscrowAction": {"id": "esc_1", "status": "released", "idempotencyKey": sampleKey, "payee": payee,
		"amount": "25", "currency": "USDC"},
}

func amount(text string) decimal.Decimal { return decimal.RequireFromString(text) }

// booking is what was asked for and booked, if the sample service confirms it.
func (c *call) booking() (asked dapi.PayoutCreate, booked *dapi.Payout) {
	c.Helper()
	sampled := sample(contrary.ResponseLayers(c.operation)[0], nil)
	terms := map[string]any{}
	for _, name := range []string{"contactId", "amount", "currency", "paymentReference", "purpose", "documentIds",
		"fromChainId", "toChainId"} {
		terms[name] = member(sampled, name)
	}
	asked = as[dapi.PayoutCreate](c, terms)
	return asked, &dapi.Payout{
		ID: dapi.PayoutID(text(sampled, "id")), IdempotencyKey: text(sampled, "idempotencyKey"),
		ContactID: asked.ContactID, Amount: asked.Amount, Currency: asked.Currency, Approval: approval(),
	}
}

// approval is one that has not ended.
func approval() *dapi.Approval {
	return &dapi.Approval{ID: "ap_1", Payload: []byte("what is signed"), ExpiresAt: time.Now().Add(time.Minute)}
}

// callOf finds the call of an operation.
func callOf(o *wire.Operation) func(*call) (any, error) {
	for _, calls := range []map[string]func(*call) (any, error){loginCalls, platformCalls, moneyCalls, appCalls,
		paperCalls, otherCalls} {
		if found := calls[o.Name()]; found != nil {
			return found
		}
	}
	return nil
}

var descriptions = sync.OnceValues(func() (*wire.Description, error) { return wire.Read(openapi.Files) })

// describe is the description, which is read once.
func describe(t *testing.T) *wire.Description {
	t.Helper()
	d, err := descriptions()
	require.NoError(t, err)
	return d
}

func TestEveryOperationIsCalled(t *testing.T) {
	d := describe(t)
	for _, o := range d.Operations {
		t.Run(o.Name(), func(t *testing.T) {
			made := callOf(o)
			require.NotNil(t, made)
			c := newCall(t, o, sampleService{description: d})
			c.ask(nil)
			value, err := made(c)
			require.NoError(t, err)
			assertAllRead(t, c, value)
		})
	}
}

// assertAllRead: the value has every member of the response.
func assertAllRead(t *testing.T, c *call, value any) {
	t.Helper()
	if isLogin(c.operation) || len(c.response.Body) == 0 || c.operation.ID == "RenderInvoicePDF" {
		return
	}
	whole, err := decode(c.response.Body)
	require.NoError(t, err)
	got := tree(t, value)
	if name, part := shownPart(whole, got); part {
		whole = member(whole, name)
	}
	assert.Empty(t, joined(differences(filled(whole), got, nil)), "%s\n%s", c.response.Body, encode(got))
}

// unreadPart is one entry of Response.Unread.
type unreadPart struct {
	at      pointer
	stated  bool
	problem string
}

// unread is what a response says could not be read.
func unread(response moneymovement.Response) (parts []unreadPart) {
	for _, entry := range response.Unread {
		parts = append(parts, unreadPart{readPointer(entry.Pointer), entry.Stated, entry.Problem})
	}
	return parts
}

// The responses for users' fakes are read to the end by the SDK. A confirm is compared with what was asked, so its
// response is read alone.
func TestEachRecordedResponseIsRead(t *testing.T) {
	alone := map[string]any{"ConfirmPayout": &dapi.Payout{}, "ConfirmEscrowAction": &dapi.Escrow{}}
	d := describe(t)
	name := func(o *wire.Operation) string { return strings.Replace(o.Name(), " ", ".", 1) }
	for _, o := range d.Operations {
		t.Run(o.Name(), func(t *testing.T) {
			c := newCall(t, o, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				response, err := recorded.Response(name(d.Find(r.Method, r.URL.Path)), time.Now())
				if !assert.NoError(t, err) {
					return
				}
				defer response.Body.Close()
				maps.Copy(w.Header(), response.Header)
				w.WriteHeader(response.StatusCode)
				_, _ = io.Copy(w, response.Body)
			}))
			c.shared = true
			c.ask(nil)
			value, is := alone[o.ID]
			var err error
			if is {
				c.response.Body, err = recorded.Body(name(o), time.Now())
				require.NoError(t, err)
				err = json.Unmarshal(c.response.Body, value)
			} else {
				value, err = callOf(o)(c)
			}
			require.NoError(t, err)
			assertAllRead(t, c, value)
		})
	}
}
