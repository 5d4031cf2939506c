package gate

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/sandbox/deployment"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/clock"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/fault"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/session"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/store"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/platformwire"
	"github.com/moneymovement/moneymovement-go/signing"
)

// operations serves logins and one read that the test sets.
type operations struct {
	platformwire.Server
	login    *session.Login
	treasury func(context.Context) (wire.Response, error)
}

func (o operations) GetTreasury(ctx context.Context) (wire.Response, error) {
	return o.treasury(ctx)
}

func (o operations) CreateChallenge(ctx context.Context, body platformwire.ChallengeRequest) (wire.Response, error) {
	return o.login.CreateChallenge(ctx, body)
}

func (o operations) CreateToken(ctx context.Context, body platformwire.TokenRequest) (wire.Response, error) {
	return o.login.CreateToken(ctx, body)
}

// rig is a gate with one session.
type rig struct {
	*Gate
	registry *session.KeyRegistry
	key      session.Key
	bearer   string
	logged   *bytes.Buffer
	broken   []error
}

func newRig(t testing.TB, treasury func(context.Context) (wire.Response, error)) *rig {
	t.Helper()
	clk := clock.New(time.Now)
	r := &rig{registry: session.NewKeyRegistry(clk, store.Memory{}), logged: &bytes.Buffer{}}
	tokens := session.NewTokens(clk, store.Memory{})
	developer, err := signing.Generate()
	require.NoError(t, err)
	r.key, err = r.registry.Register(session.Registration{
		Email: "ops@example.com", PublicKey: base64.StdEncoding.EncodeToString(developer.PublicKey()),
	})
	require.NoError(t, err)
	windows := clock.NewCounters(clk, func() time.Duration { return 0 })
	login := &session.Login{
		Clock: clk, Registry: r.registry, Tokens: tokens, Challenges: session.NewChallenges(clk, store.Memory{}),
		Windows:  windows,
		Settings: func() *deployment.Settings { settings := deployment.DefaultSettings(); return &settings },
	}
	r.Gate, err = New(Config{
		Platform: operations{login: login, treasury: treasury},
		Clock:    clk, Registry: r.registry, Tokens: tokens,
		Windows: windows, Faults: fault.NewSet(store.Memory{}), Log: NewLog(DefaultLogLength),
		IsClient: func(string, string) bool { return false },
		AppKeys:  session.NewAppKeys(clk, store.Memory{}), AccessTokens: session.NewAccessTokens(store.Memory{}),
		DatabaseAvailable: func() bool { return true },
		Room:              func() error { return nil },
		Violation:         func(_ string, err error) { r.broken = append(r.broken, err) },
		Logger:            slog.New(slog.NewTextHandler(r.logged, nil)),
	})
	require.NoError(t, err)
	r.logIn(t, developer)
	return r
}

func (r *rig) logIn(t testing.TB, key *signing.DeveloperKey) {
	t.Helper()
	var challenge platformwire.Challenge
	r.post(t, "/auth/challenge",
		platformwire.ChallengeRequest{Email: r.key.Email, RequestExpiry: time.Now().Add(time.Minute)}, &challenge)
	signature, err := key.Sign(t.Context(), challenge.Payload)
	require.NoError(t, err)
	var grant platformwire.TokenGrant
	r.post(t, "/auth/token", platformwire.TokenRequest{ChallengeID: challenge.ChallengeID, PublicKey: key.PublicKey(),
		Signature: signature}, &grant)
	r.bearer = grant.AccessToken
}

func (r *rig) post(t testing.TB, path string, body, answer any) {
	t.Helper()
	text, err := json.Marshal(body)
	require.NoError(t, err)
	request := httptest.NewRequest(http.MethodPost, Base+path, bytes.NewReader(text))
	request.Header.Set("Content-Type", "application/json")
	recorder := httptest.NewRecorder()
	r.ServeHTTP(recorder, request)
	require.Equal(t, http.StatusCreated, recorder.Code, "%s", recorder.Body)
	require.NoError(t, json.Unmarshal(recorder.Body.Bytes(), answer))
}

func (r *rig) get() *httptest.ResponseRecorder {
	request := httptest.NewRequest(http.MethodGet, Base+"/sandbox/treasury", nil)
	request.Header.Set("Authorization", "Bearer "+r.bearer)
	recorder := httptest.NewRecorder()
	r.ServeHTTP(recorder, request)
	return recorder
}

func TestKeyIsRecheckedBeforeCosigning(t *testing.T) {
	var r *rig
	r = newRig(t, func(ctx context.Context) (wire.Response, error) {
		check := wire.CallerOf(ctx).Signer(r.key.PublicKey)
		require.NoError(t, check())
		require.NoError(t, r.registry.Delete(r.key.ID))
		return wire.Response{}, check()
	})
	got := r.get()
	assert.Equal(t, http.StatusForbidden, got.Code)
	assert.JSONEq(t, `{"error":{"code":"forbidden","message":"The session may not do this."}}`, got.Body.String())
}

func TestPanicIsInternalErrorAndLogged(t *testing.T) {
	r := newRig(t, func(context.Context) (wire.Response, error) { panic("a fault of the host") })
	got := r.get()
	assert.Equal(t, http.StatusInternalServerError, got.Code)
	assert.Contains(t, got.Body.String(), got.Header().Get("X-Request-ID"))
	assert.NotContains(t, got.Body.String(), "a fault of the host")
	assert.Contains(t, r.logged.String(), "a fault of the host")
}

func TestOtherErrorIsInternalErrorAndLogged(t *testing.T) {
	r := newRig(t, func(context.Context) (wire.Response, error) {
		return wire.Response{}, context.DeadlineExceeded
	})
	got := r.get()
	assert.Equal(t, http.StatusInternalServerError, got.Code)
	assert.Contains(t, got.Body.String(), `"code":"internal_error"`)
	assert.Contains(t, r.logged.String(), "deadline exceeded")
}

func TestResponseThatViolatesDescriptionIsReported(t *testing.T) {
	r := newRig(t, func(context.Context) (wire.Response, error) {
		return wire.OK(platformwire.Treasury{Balances: []platformwire.Balance{{Currency: "GBP"}}}), nil
	})
	require.Equal(t, http.StatusOK, r.get().Code)
	require.Len(t, r.broken, 1, "GBP is no asset")
	assert.ErrorContains(t, r.broken[0], "GetTreasury returned 200")
}

func TestLogIsARingBuffer(t *testing.T) {
	l := NewLog(DefaultLogLength)
	for i := range DefaultLogLength + 3 {
		l.add(Entry{Request: Request{Status: i}}, nil)
	}
	entries := l.Entries()
	require.Len(t, entries, DefaultLogLength)
	assert.Equal(t, 3, entries[0].Status)
	assert.Equal(t, DefaultLogLength+2, entries[DefaultLogLength-1].Status)
	assert.Equal(t, DefaultLogLength+3, entries[DefaultLogLength-1].ID)
	last, _, ok := l.Get(DefaultLogLength + 3)
	assert.True(t, ok)
	assert.Equal(t, entries[DefaultLogLength-1], last)
	_, _, ok = l.Get(3)
	assert.False(t, ok, "forgotten")
	assert.Equal(t, entries[10:], l.After(entries[9].ID))
	assert.Len(t, l.After(0), DefaultLogLength)
	assert.Empty(t, l.After(DefaultLogLength+3))
	l.Clear()
	assert.Empty(t, l.Entries())
	l.add(Entry{}, nil)
	assert.Equal(t, DefaultLogLength+4, l.After(0)[0].ID, "numbers go on")
}

func TestLogTruncatesLongText(t *testing.T) {
	l := NewLog(DefaultLogLength)
	l.add(Entry{Request: Request{Method: strings.Repeat("M", maxLogged+1), Path: strings.Repeat("p", maxLogged)}}, nil)
	l.add(Entry{Request: Request{Path: strings.Repeat("p", maxLogged-1) + "ä"}}, nil)
	entries := l.Entries()
	assert.Equal(t, Request{ID: 1, Method: strings.Repeat("M", maxLogged) + "…", Path: strings.Repeat("p", maxLogged)},
		entries[0].Request)
	assert.Equal(t, Request{ID: 2, Path: strings.Repeat("p", maxLogged-1) + "…"}, entries[1].Request)
}

// mounted returns the surfaces of a gate without operations.
func mounted(t testing.TB) []*surface {
	surfaces, err := new(Gate).mountAll(Config{})
	require.NoError(t, err)
	return surfaces
}

// descriptions returns the descriptions of the surfaces, in their order.
func descriptions() []operationDescriptions {
	return []operationDescriptions{platformOperations(), referenceOperations(), publicOperations(), appOperations()}
}

// all describes every route of a surface.
func (s *surface) all(t testing.TB) (routes []*route) {
	for _, endpoint := range s.routes {
		opened, err := endpoint.describe()
		require.NoError(t, err)
		routes = append(routes, opened)
	}
	return routes
}

// reopen replaces the descriptions of this surface in this gate only.
func (s *surface) reopen(change func(open func() (*route, error)) (*route, error)) {
	s.routes = slices.Clone(s.routes)
	for i, shared := range s.routes {
		own := *shared
		own.describe = func() (*route, error) { return change(shared.describe) }
		s.routes[i] = &own
	}
}

func TestEveryDescribedOperationIsMounted(t *testing.T) {
	r := newRig(t, nil)
	for i, operations := range descriptions() {
		s := r.surfaces[i]
		assert.Len(t, s.routes, len(operations), "each route has its own description")
		for i, route := range s.all(t) {
			assert.Contains(t, operations, route.method+" "+route.described.Path)
			assert.NotEmpty(t, route.operation)
			assert.Equal(t, strings.HasPrefix(route.described.Path, "/auth/"), route.public, route.operation)
			path := s.routes[i].full
			assert.Same(t, s, r.surfaceOf(path), "%s leads to another surface", path)
		}
	}
}

// A request loads the description of its own route only.
func TestRouteIsDescribedAtItsFirstRequest(t *testing.T) {
	r := newRig(t, func(context.Context) (wire.Response, error) {
		return wire.OK(platformwire.Treasury{Balances: []platformwire.Balance{}}), nil
	})
	opened := 0
	for _, s := range r.surfaces {
		s.reopen(func(open func() (*route, error)) (*route, error) {
			opened++
			return open()
		})
	}
	assert.Zero(t, opened)
	require.Equal(t, http.StatusOK, r.get().Code)
	assert.Equal(t, 1, opened)
}

// Gates share routes and descriptions. Each runs its own operations.
func TestGatesInOneProcessAreIndependent(t *testing.T) {
	var served [2]int
	var group sync.WaitGroup
	for i := range served {
		r := newRig(t, func(context.Context) (wire.Response, error) {
			served[i]++
			return wire.OK(platformwire.Treasury{Balances: []platformwire.Balance{}}), nil
		})
		group.Go(func() {
			for range i + 1 {
				assert.Equal(t, http.StatusOK, r.get().Code)
			}
		})
	}
	group.Wait()
	assert.Equal(t, [2]int{1, 2}, served)
}

func TestUnreadableDescriptionIsInternalError(t *testing.T) {
	r := newRig(t, nil)
	r.surfaces[0].reopen(func(func() (*route, error)) (*route, error) { return nil, errors.New("no description") })
	got := r.get()
	assert.Equal(t, http.StatusInternalServerError, got.Code)
	assert.Contains(t, r.logged.String(), "no description")
}

func TestEveryWriteOfTheAppAPINeedsAScope(t *testing.T) {
	for _, route := range mounted(t)[3].all(t) {
		if route.operation != "GetApp" {
			assert.Contains(t, session.AppScopes(), scopeOf(route), route.operation)
		}
	}
}

// The patterns of headers that the gate checks itself are those of the description.
func TestHeaderPatternsMatchDescription(t *testing.T) {
	patterns := map[string]string{serviceAccount: clientIDs.String(), idempotencyKey: idempotencyKeys.String()}
	found := map[string]int{}
	for i, operations := range descriptions() {
		for name, operation := range operations {
			document, err := operation()
			require.NoError(t, err)
			method, path, _ := strings.Cut(name, " ")
			for _, parameter := range document.Paths.Value(path).GetOperation(method).Parameters {
				if !isCheckedHeader(parameter) {
					continue
				}
				header := parameter.Value.Name
				found[header]++
				assert.Equal(t, patterns[header], parameter.Value.Schema.Value.Pattern, name)
				assert.False(t, parameter.Value.Required, name)
				if header == idempotencyKey {
					assert.NotEqual(t, http.MethodGet, method, "%s: the key of a read is not looked at", name)
				} else {
					assert.Zero(t, i, "%s: only the platform API has clients", name)
					assert.NotContains(t, path, "/auth/", "the account of a login is not looked at")
				}
			}
		}
	}
	assert.Len(t, found, len(patterns))
}

func TestLiteralSegmentWinsOverParameter(t *testing.T) {
	r := newRig(t, nil)
	const id = "0b0e7f0e-5d0f-4f7e-9a57-0c3a6a9f4b11"
	for _, c := range []struct{ method, path, operation string }{
		{"GET", "/documents/contracts/" + id, "GetContract"},
		{"GET", "/documents/contracts/invoices", "ListInvoices"},
		{"GET", "/documents/contracts/templates", "ListContractTemplates"},
		{"GET", "/documents/contracts/" + id + "/preview", "PreviewContract"},
		{"GET", "/documents/contracts/invoices/" + id, "GetInvoice"},
		{"GET", "/documents/contracts/invoices/preview", "GetInvoice"},
		{"PUT", "/documents/contracts/" + id + "/payment_methods", "ReplacePaymentMethods"},
		{"PUT", "/documents/contracts/invoices/payment_methods", "UpdateInvoice"},
		{"POST", "/documents/contracts/invoices/uploaded", "CreateUploadedInvoice"},
		{"POST", "/documents/contracts/invoices/pause", ""},
		{"DELETE", "/documents/contracts/templates", ""},
	} {
		found, _, err := r.surfaceOf(c.path).routes.find(httptest.NewRequest(c.method, c.path, nil))
		if c.operation == "" {
			assert.ErrorIs(t, err, wire.MethodNotAllowed(), "%s %s", c.method, c.path)
			continue
		}
		require.NoError(t, err)
		opened, err := found.describe()
		require.NoError(t, err)
		assert.Equal(t, c.operation, opened.operation, "%s %s", c.method, c.path)
	}
}

func TestSurfaceOfPath(t *testing.T) {
	r := newRig(t, nil)
	for path, want := range map[string]int{
		"/dapi/v1": 0, "/dapi/v1/chains": 0, "/dapi/v10/chains": 3, "/api/v1/accounts/cards": 1, "/utils/rates/EUR": 2,
		"/public/invoices/1": 2, "/publicity": 3, "/user": 3, "/": 3, "": 3,
	} {
		assert.Same(t, r.surfaces[want], r.surfaceOf(path), path)
	}
}

func BenchmarkRead(b *testing.B) {
	r := newRig(b, func(context.Context) (wire.Response, error) {
		return wire.OK(platformwire.Treasury{Balances: []platformwire.Balance{}}), nil
	})
	for b.Loop() {
		r.get()
	}
}

// judge validates a body. It must return without a panic.
func (g *Gate) judge(route *route, body string) {
	request := httptest.NewRequest(route.method, "/", nil)
	request.Header.Set("Content-Type", "application/json")
	parameters := map[string]string{}
	for name, prefix := range route.ids.path {
		parameters[name] = prefix + "1"
	}
	if err := g.validate(context.Background(), request, route,
		&wire.Request{Path: parameters, Body: []byte(body)}); err != nil {
		newResponse("req_1").refuse(err)
	}
}

// Every operation can be read, by several callers at once. They get the same document.
func TestEveryOperationIsReadOnce(t *testing.T) {
	for _, surface := range []func() operationDescriptions{platformOperations, appOperations, referenceOperations,
		publicOperations} {
		require.NotEmpty(t, surface())
		for name, operation := range surface() {
			var read [8]*openapi3.T
			var all sync.WaitGroup
			for i := range read {
				all.Go(func() { read[i], _ = operation() })
			}
			all.Wait()
			require.NotNil(t, read[0], name)
			for _, document := range read {
				assert.Same(t, read[0], document, name)
			}
			assert.Equal(t, 1, read[0].Paths.Len(), name)
		}
	}
}
