package transport_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// keyCredential sends a key in its own header, like the app API.
type keyCredential struct{}

func (keyCredential) Authorize(_ context.Context, h http.Header) error {
	h.Set("X-Api-Key", "secret")
	return nil
}
func (keyCredential) Renew(context.Context, http.Header) error { return nil }

// tokens numbers its tokens: Renew makes the next one, if the refused one is the current one.
type tokens struct {
	mu      sync.Mutex
	current int
	renewed int
	refusal error // of Renew
}

func (k *tokens) Authorize(_ context.Context, h http.Header) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	h.Set("Authorization", fmt.Sprintf("Bearer token-%d", k.current))
	return nil
}

func (k *tokens) Renew(_ context.Context, refused http.Header) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if refused.Get("Authorization") == fmt.Sprintf("Bearer token-%d", k.current) {
		k.current++
		k.renewed++
	}
	return k.refusal
}

func (k *tokens) next() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.current++
}

func credentials(attempts []received) []string {
	found := make([]string, len(attempts))
	for i, a := range attempts {
		found[i] = a.header.Get("Authorization")
	}
	return found
}

var expired = refuses(http.StatusUnauthorized, errors.CodeTokenExpired)

// Rule: session.bearer, session.refresh-once
func TestExpiredTokenIsRenewedAndTheRequestReplayedOnce(t *testing.T) {
	busy := refuses(http.StatusTooManyRequests, errors.CodeRateLimited, "Retry-After", "1")
	for name, tc := range map[string]struct {
		steps   []step
		sent    []string // tokens of the attempts
		renewed int
		code    errors.Code // of the returned refusal, "" for success
	}{
		"renewed": {[]step{expired, ok}, []string{"0", "1"}, 1, ""},
		"expired again": {[]step{expired, expired, ok}, []string{"0", "1"}, 1,
			errors.CodeTokenExpired},
		"renewed, then retried": {[]step{expired, busy, busy, busy, ok}, []string{"0", "1", "1", "1", "1"}, 1,
			""},
		"retried, then renewed": {[]step{busy, busy, busy, expired, busy, ok},
			[]string{"0", "0", "0", "0", "1", "1"}, 1, ""},
		"retried, renewed, expired": {[]step{busy, expired, busy, expired}, []string{"0", "0", "1", "1"}, 1,
			errors.CodeTokenExpired},
		"lost, then renewed": {[]step{lostResponse, expired, ok}, []string{"0", "0", "1"}, 1, ""},
		"renewed, then refused": {[]step{expired, refuses(403, errors.CodeForbidden)}, []string{"0", "1"}, 1,
			errors.CodeForbidden},
		"unknown to the service": {[]step{refuses(401, errors.CodeUnauthenticated), ok}, []string{"0", "1"}, 1,
			""},
		"unknown again": {[]step{refuses(401, errors.CodeUnauthenticated),
			refuses(401, errors.CodeUnauthenticated), ok}, []string{"0", "1"}, 1, errors.CodeUnauthenticated},
		"bad credentials are no expiry": {[]step{refuses(401, errors.CodeInvalidCredentials), ok}, []string{"0"}, 0,
			errors.CodeInvalidCredentials},
		"nor what a forbidden key means": {[]step{refuses(403, errors.CodeForbidden), ok}, []string{"0"}, 0,
			errors.CodeForbidden},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				auth, svc := new(tokens), script(tc.steps...)
				var response moneymovement.Response
				_, err := send(t.Context(), newClient(t, host, through(svc), authorizedBy(auth)), &bookThing,
					transport.Kept(&response))

				if tc.code == "" {
					require.NoError(t, err)
				} else {
					refusal, ok := errors.AsType[*errors.Refusal](err)
					require.True(t, ok, "%v", err)
					assert.Equal(t, tc.code, refusal.Code)
				}
				want := make([]string, len(tc.sent))
				for i, number := range tc.sent {
					want[i] = "Bearer token-" + number
				}
				attempts := svc.attempts()
				assert.Equal(t, want, credentials(attempts))
				assert.Equal(t, tc.renewed, auth.renewed)
				assert.Equal(t, len(tc.sent), response.Attempts)
				for i, key := range keys(attempts) {
					assert.Equal(t, response.IdempotencyKey, key, "the same key on attempt %d", i+1)
					assert.Equal(t, attempts[0].body, attempts[i].body)
				}
			})
		})
	}
}

// If a token changes between two attempts, the later attempt uses it. The header of the earlier attempt does not
// change.
func TestTokenRenewedBetweenAttemptsIsUsed(t *testing.T) {
	auth := new(tokens)
	var first http.Header
	var atSending http.Header
	svc := script(func(req *http.Request) (*http.Response, error) {
		first, atSending = req.Header, req.Header.Clone()
		auth.next() // by another call
		return refuses(http.StatusServiceUnavailable, errors.CodeDatabaseUnavailable)(req)
	}, ok)
	_, err := send(t.Context(), newClient(t, host, through(svc), authorizedBy(auth)), &readThing, transport.Call{})

	require.NoError(t, err)
	assert.Equal(t, []string{"Bearer token-0", "Bearer token-1"}, credentials(svc.attempts()))
	assert.Equal(t, atSending, first)
}

// A response can arrive while the request is still being written. The next attempt must not change what the first one's
// writer reads. The race detector checks that.
func TestHeaderIsNotTouchedWhileAnEarlierAttemptIsWritten(t *testing.T) {
	auth := new(tokens)
	var writers sync.WaitGroup
	svc := script(func(req *http.Request) (*http.Response, error) {
		writers.Go(func() {
			for range 2000 {
				_ = req.Header.Write(io.Discard)
			}
		})
		auth.next()
		return refuses(http.StatusServiceUnavailable, errors.CodeDatabaseUnavailable)(req)
	})
	_, err := send(t.Context(), newClient(t, host, through(svc), authorizedBy(auth)), &bookThing, transport.Call{})
	require.Error(t, err)
	writers.Wait()
	assert.Len(t, svc.attempts(), 4)
}

func TestFailedRenewalEndsTheCall(t *testing.T) {
	loginRefused := errors.Decode(errors.Response{CallInfo: errors.CallInfo{Operation: "CreateToken"}, Status: 401,
		Body: []byte(`{"error":{"code":"invalid_credentials"}}`)})
	loginUnknown := &errors.InDoubt{CallInfo: errors.CallInfo{Operation: "CreateToken"}, Cause: loginRefused}
	for name, tc := range map[string]struct {
		before []step
		with   error
		check  func(*testing.T, error)
	}{
		"refused login is returned as it is": {nil, loginRefused, func(t *testing.T, err error) {
			assert.Same(t, loginRefused, err)
		}},
		"another failure: not delivered": {nil, io.ErrClosedPipe, func(t *testing.T, err error) {
			var undelivered *errors.NotDelivered
			require.ErrorAs(t, err, &undelivered)
			assert.ErrorIs(t, err, io.ErrClosedPipe)
		}},
		"lost login that was refused when repeated: not delivered": {nil, loginUnknown, func(t *testing.T, err error) {
			var undelivered *errors.NotDelivered
			require.ErrorAs(t, err, &undelivered)
			assert.Equal(t, "BookThing", undelivered.Operation)
			assert.ErrorIs(t, err, loginRefused)
		}},
		"after a lost response: unknown": {[]step{lostResponse}, loginRefused, func(t *testing.T, err error) {
			var unknown *errors.InDoubt
			require.ErrorAs(t, err, &unknown)
			assert.ErrorIs(t, err, loginRefused)
			assert.Equal(t, "BookThing", unknown.Operation)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			auth, svc := &tokens{refusal: tc.with}, script(append(tc.before, expired, ok)...)
			_, err := send(t.Context(), newClient(t, host, through(svc), authorizedBy(auth)), &bookThing,
				transport.Call{})
			tc.check(t, err)
			assert.Len(t, svc.attempts(), len(tc.before)+1, "nothing is sent after it")
		})
	}
}

func TestPublicOperationsCarryNoCredential(t *testing.T) {
	auth, svc := new(tokens), script(expired, ok)
	_, err := send(t.Context(), newClient(t, host, through(svc), authorizedBy(auth)), &loginThing, transport.Call{})
	var refusal *errors.TokenExpired
	require.ErrorAs(t, err, &refusal)
	assert.Equal(t, []string{""}, credentials(svc.attempts()))
	assert.Zero(t, auth.renewed)
}

// A refused login changed nothing, whatever the refusal is.
func TestARefusedLoginChangedNothing(t *testing.T) {
	for _, refusal := range []step{refuses(500, "of_a_later_version"), refuses(409, "of_a_later_version"), page(502)} {
		_, err := send(t.Context(),
			newClient(t, host, through(script(refusal)), retries(moneymovement.RetryPolicy{Max: -1})),
			&loginThing, transport.Call{})
		failure, ok := errors.AsType[errors.Failure](err)
		require.True(t, ok, "%v", err)
		assert.Equal(t, errors.NotMoved, failure.MovedByCall(), "%v", err)
	}
}

// Many calls that meet the same expired token succeed. Each is repeated at most once, and all share one renewal.
func TestExpiryUnderConcurrency(t *testing.T) {
	const calls = 50
	auth := new(tokens)
	var seen atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen.Add(1)
		w.Header().Set("Content-Type", "application/json")
		if r.Header.Get("Authorization") == "Bearer token-0" {
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = io.WriteString(w, `{"error":{"code":"token_expired","message":"expired"}}`)
			return
		}
		_, _ = io.WriteString(w, oneThing)
	}))
	defer server.Close()
	client := newClient(t, server.URL, authorizedBy(auth))

	var wg sync.WaitGroup
	for range calls {
		wg.Go(func() {
			got, err := send(t.Context(), client, &bookThing, transport.Call{})
			if assert.NoError(t, err) {
				assert.Equal(t, "th_1", got.ID)
			}
		})
	}
	wg.Wait()
	assert.Equal(t, 1, auth.renewed)
	assert.LessOrEqual(t, int(seen.Load()), 2*calls)
}

func TestUnavailableCredentialSendsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		svc := script(ok)
		slow := authorizedBy(stuck{})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err := send(ctx, newClient(t, host, through(svc), slow), &bookThing, transport.Call{})
		var undelivered *errors.NotDelivered
		require.ErrorAs(t, err, &undelivered)
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Zero(t, undelivered.Attempts)
		assert.Empty(t, svc.attempts())
	})
}

// A credential that the service refuses while it is set, such as one that cannot be refreshed, is renewed as well.
func TestACredentialThatIsRefusedWhileItIsSetIsRenewed(t *testing.T) {
	for name, retried := range map[string][]step{"before the first attempt": nil, "before a retry": {lostResponse}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				svc, auth := script(append(retried, ok)...), &refusing{allowed: len(retried)}
				_, err := sendKeyed(t.Context(), newClient(t, host, through(svc), authorizedBy(auth)), &bookThing,
					transport.Call{})
				require.NoError(t, err)
				assert.Equal(t, 1, auth.renewed)
				assert.Len(t, svc.attempts(), len(retried)+1)
			})
		})
	}
}

// refusing is a credential that works for so many attempts, and then until it is renewed no more.
type refusing struct{ allowed, renewed int }

func (r *refusing) Authorize(context.Context, http.Header) error {
	if r.allowed--; r.allowed < 0 && r.renewed == 0 {
		return &errors.Unauthenticated{}
	}
	return nil
}

func (r *refusing) Renew(context.Context, http.Header) error {
	r.renewed++
	return nil
}

// stuck is a login that never ends.
type stuck struct{}

func (stuck) Authorize(ctx context.Context, _ http.Header) error {
	<-ctx.Done()
	return ctx.Err()
}
func (stuck) Renew(context.Context, http.Header) error { return nil }

// The credential's own requests use connections too. They say nothing about whether the call was sent.
func TestConnectionOfALoginDoesNotCountAsSent(t *testing.T) {
	login := httptest.NewServer(http.NotFoundHandler())
	defer login.Close()
	auth := loggingIn{login.URL, login.Client()}
	client := newClient(t, "http://127.0.0.1:1", authorizedBy(auth))
	_, err := send(t.Context(), client, &spendThing, transport.Call{})
	var undelivered *errors.NotDelivered
	require.ErrorAs(t, err, &undelivered)
	assert.Equal(t, 4, undelivered.Attempts)
}

// loggingIn makes a request of its own, under the call's context, before each attempt.
type loggingIn struct {
	url  string
	with *http.Client
}

func (l loggingIn) Authorize(ctx context.Context, _ http.Header) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, l.url, nil)
	if err != nil {
		return err
	}
	resp, err := l.with.Do(req)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}
func (loggingIn) Renew(context.Context, http.Header) error { return nil }

// withHeader sets a credential in a header.
type withHeader struct{ name, value string }

func (w withHeader) Authorize(_ context.Context, h http.Header) error {
	h.Set(w.name, w.value)
	return nil
}

// The error of a credential that another surface takes says which one.
func TestACredentialOfAnotherSurface(t *testing.T) {
	const (
		app       = "looks like an app key, which package appapi takes:"
		reference = "looks like an access token of the reference endpoints, which package refapi takes:"
		platform  = "looks like an access token of the platform API, which package dapi gets with a developer key:"
	)
	for _, tc := range []struct{ surface, header, credential, hint string }{
		{"/api/v1", "Authorization", "Bearer at_1", platform},
		{"/api/v1", "Authorization", "Bearer uat_1", ""},
		{"/api/v1", "Authorization", "Bearer ak_1", app},
		{"/api/v1", "X-Api-Key", "ak_1", app},
		{"/dapi/v1", "Authorization", "Bearer at_1", ""},
		{"/dapi/v1", "Authorization", "Bearer uat_1", reference},
		{"/dapi/v1", "Authorization", "Bearer other", ""},
		{"/app/v1", "X-Api-Key", "ak_1", ""},
		{"/app/v1", "X-Api-Key", "at_1", platform},
		{"/app/v1", "X-Api-Key", "uat_1", reference},
	} {
		t.Run(tc.surface+" "+tc.credential, func(t *testing.T) {
			client, err := transport.New(host, tc.surface, transport.Config{
				ClientSettings: moneymovement.ClientSettings{HTTPClient: &http.Client{
					Transport: script(refuses(401, errors.CodeUnauthenticated))}},
				Auth: withHeader{tc.header, tc.credential},
			})
			require.NoError(t, err)
			_, err = send(t.Context(), client, &readThing, transport.Call{})
			require.Error(t, err)
			if tc.hint == "" {
				assert.NotContains(t, err.Error(), "looks like")
			} else {
				assert.ErrorContains(t, err, tc.hint)
			}
		})
	}
}

// The address that the HTTP client of an authorizer puts into its error is not shown: it can hold a token.
func TestTheAddressOfALoginIsNotShown(t *testing.T) {
	cause := errors.New("connection refused")
	failing := failingAuthorizer{&url.Error{Op: "Post", URL: host + "/?token=secret", Err: cause}}
	_, err := send(t.Context(), newClient(t, host, through(script(ok)), authorizedBy(failing)), &readThing,
		transport.Call{})
	require.ErrorIs(t, err, cause)
	_, address := errors.AsType[*url.Error](err)
	assert.False(t, address)
	assert.NotContains(t, err.Error(), "secret")
}

type failingAuthorizer struct{ err error }

func (f failingAuthorizer) Authorize(context.Context, http.Header) error { return f.err }
