package transport_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/ratewindow"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

func throughFor(next http.RoundTripper, timeout time.Duration) func(*transport.Config) {
	return func(c *transport.Config) { c.HTTPClient = &http.Client{Transport: next, Timeout: timeout} }
}

// times returns when the attempts were made, after the first one.
func times(attempts []received) (found []time.Duration) {
	for _, attempt := range attempts {
		found = append(found, attempt.at.Sub(attempts[0].at))
	}
	return found
}

// There are four attempts. The pauses are at most a quarter, half, and a whole second, and at least half of that.
func TestAttemptsAndPauses(t *testing.T) {
	bounds := []time.Duration{250 * time.Millisecond, 500 * time.Millisecond, time.Second}
	for name, end := range map[string]step{"refused": unavailable, "lost": lostResponse, "broken off": brokenResponse,
		"no connection": noConnection} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				svc := script(end, end, end, ok)
				var response moneymovement.Response
				_, err := send(t.Context(), newClient(t, host, through(svc), retries(moneymovement.RetryPolicy{})),
					&bookThing, transport.Keyed("invoice-42", &response))
				require.NoError(t, err)
				at := times(svc.attempts())
				require.Len(t, at, 4)
				assert.Equal(t, 4, response.Attempts)
				for i, bound := range bounds {
					pause := at[i+1] - at[i]
					assert.True(t, pause >= bound/2 && pause <= bound, "pause %d is %v", i+1, pause)
				}
			})
		})
	}
}

// A call waits exactly as long as the service asks for, after each attempt, in every spelling of the header.
func TestRetryAfterOfEachAttempt(t *testing.T) {
	busy := func(after string) step {
		return refuses(http.StatusTooManyRequests, errors.CodeRateLimited, "Retry-After", after)
	}
	synctest.Test(t, func(t *testing.T) {
		date := time.Now().Add(9 * time.Second).UTC().Format(http.TimeFormat)
		svc := script(busy("2"), busy("3"), busy(date), ok)
		_, err := send(t.Context(), newClient(t, host, through(svc)), &readThing, transport.Call{})
		require.NoError(t, err)
		assert.Equal(t, []time.Duration{0, 2 * time.Second, 5 * time.Second, 9 * time.Second}, times(svc.attempts()))
	})
}

// The Timeout of the caller's client is for one attempt. Pauses do not count. Each attempt has the whole Timeout, up to
// the end of its body.
func TestTimeoutOfTheCallersClient(t *testing.T) {
	const timeout = 7 * time.Second
	const pause = 2 * time.Second
	busy := refuses(http.StatusTooManyRequests, errors.CodeRateLimited, "Retry-After", "2")
	quick := retries(moneymovement.RetryPolicy{Max: 2, WaitMin: 1, WaitMax: time.Minute})
	for name, tc := range map[string]struct {
		hangs step
		says  string
	}{
		"no response": {hangs, "took longer than the Timeout of the http.Client"},
		"half a response": {breaksOff,
			"the response ended after 5 bytes: the attempt took longer than the Timeout of the http.Client"},
	} {
		for position, steps := range map[string][]step{
			"at first": {tc.hangs, ok}, "again": {busy, tc.hangs, ok}, "at last": {busy, busy, tc.hangs},
			"always": {tc.hangs},
		} {
			t.Run(name+"/"+position, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					svc := script(steps...)
					started := time.Now()
					_, err := sendKeyed(t.Context(), newClient(t, host, throughFor(svc, timeout), quick), &bookThing,
						transport.Call{})
					took := time.Since(started).Round(time.Second)
					switch position {
					case "at first":
						require.NoError(t, err)
						assert.Len(t, svc.attempts(), 2)
						assert.Equal(t, timeout, took)
						return
					case "again":
						require.NoError(t, err)
						assert.Len(t, svc.attempts(), 3)
						assert.Equal(t, pause+timeout, took)
						return
					case "at last":
						assert.Equal(t, 2*pause+timeout, took)
					case "always":
						assert.Equal(t, 3*timeout, took)
					}
					assert.Len(t, svc.attempts(), 3)
					unknown, ok := errors.AsType[*errors.InDoubt](err)
					require.True(t, ok, "%v", err)
					assert.Contains(t, beneath(unknown.Cause), tc.says)
					assert.ErrorIs(t, err, context.DeadlineExceeded)
					assert.NotContains(t, err.Error(), host)
				})
			})
		}
		t.Run(name+"/once", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				started := time.Now()
				client := newClient(t, host, throughFor(script(tc.hangs), timeout),
					retries(moneymovement.RetryPolicy{Max: -1}))
				_, err := send(t.Context(), client, &readThing, transport.Call{})
				assert.Equal(t, timeout, time.Since(started).Round(time.Second))
				assert.Contains(t, beneath(err), tc.says)
			})
		})
	}
}

// That holds for a very short Timeout too.
func TestTheShortestTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		started := time.Now()
		_, err := send(ctx, newClient(t, host, throughFor(step(hangs), 1), retries(moneymovement.RetryPolicy{Max: -1})),
			&readThing, transport.Call{})
		require.Error(t, err)
		assert.Less(t, time.Since(started), time.Second)
	})
}

// beneath returns the text of an error, with the reason why a response could not be read.
func beneath(err error) string {
	if unexpected, ok := errors.AsType[*errors.UnexpectedResponse](err); ok {
		return unexpected.Err.Error()
	}
	return err.Error()
}

// hangs never responds.
func hangs(req *http.Request) (*http.Response, error) {
	<-req.Context().Done()
	return nil, req.Context().Err()
}

// breaksOff sends five bytes, and no more until the request ends.
func breaksOff(req *http.Request) (*http.Response, error) {
	resp, err := ok(req)
	resp.Body = io.NopCloser(io.MultiReader(strings.NewReader(oneThing[:5]), untilDone{req}))
	return resp, err
}

// endless is the body of a response without an end. It counts the bytes that are read.
type endless struct{ read int }

func (e *endless) Read(p []byte) (int, error) {
	e.read += len(p)
	return len(p), nil
}

// At most 4 KiB of a response that is retried are read, so that an endless one blocks nothing.
func TestAnEndlessRefusal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bodies := make([]endless, 2)
		var at int
		svc := step(func(req *http.Request) (*http.Response, error) {
			if at == len(bodies) {
				return ok(req)
			}
			resp, err := unavailable(req)
			resp.Body, resp.ContentLength = io.NopCloser(&bodies[at]), -1
			at++
			return resp, err
		})
		_, err := send(t.Context(), newClient(t, host, through(svc)), &readThing, transport.Call{})
		require.NoError(t, err)
		assert.Equal(t, []endless{{4 << 10}, {4 << 10}}, bodies)
	})
}

// numbered gives each attempt its own credential, and counts attempts like a limiter.
type numbered struct{ authorized, paced int }

func (n *numbered) Authorize(_ context.Context, h http.Header) error {
	n.authorized++
	h.Set("Authorization", fmt.Sprint("Bearer ", n.authorized))
	return nil
}

func (n *numbered) Wait(context.Context, moneymovement.RateCall) error {
	n.paced++
	return nil
}

// statuses notes the number and the status of each logged attempt, 0 for no status.
type statuses struct{ seen []string }

func (s *statuses) Enabled(context.Context, slog.Level) bool { return true }
func (s *statuses) WithAttrs([]slog.Attr) slog.Handler       { return s }
func (s *statuses) WithGroup(string) slog.Handler            { return s }
func (s *statuses) Handle(_ context.Context, r slog.Record) error {
	said := map[string]int64{}
	r.Attrs(func(a slog.Attr) bool {
		if a.Value.Kind() == slog.KindInt64 {
			said[a.Key] = a.Value.Int64()
		}
		return true
	})
	s.seen = append(s.seen, fmt.Sprint(said["attempt"], ": ", said["status"]))
	return nil
}

// Each attempt gets its credential and its place in the rate window after its pause. Each is logged with its number.
func TestEachAttemptIsPrepared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		auth, svc := new(numbered), script(unavailable, lostResponse, brokenResponse, ok)
		log := new(statuses)
		client := newClient(t, host, through(svc), authorizedBy(auth), limitedBy(auth),
			func(c *transport.Config) { c.Logger = slog.New(log) })
		_, err := sendKeyed(t.Context(), client, &bookThing, transport.Call{})
		require.NoError(t, err)
		assert.Equal(t, []string{"Bearer 1", "Bearer 2", "Bearer 3", "Bearer 4"}, credentials(svc.attempts()))
		assert.Equal(t, 4, auth.paced)
		assert.Equal(t, []string{"1: 503", "2: 0", "3: 200", "4: 200"}, log.seen)
	})
}

// Each attempt sends an equal header of its own: the connection of an earlier one may still read that.
func TestEachAttemptSendsAHeaderOfItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sent []http.Header
		svc := script(unavailable, ok)
		client := newClient(t, host, through(step(func(req *http.Request) (*http.Response, error) {
			sent = append(sent, req.Header)
			return svc.RoundTrip(req)
		})))
		_, err := transport.Do[thing](t.Context(), client,
			transport.NewRequest(&bookThing, "cl_1", transport.Keyed("invoice-42")))
		require.NoError(t, err)
		require.Len(t, sent, 2)
		assert.Equal(t, []string{"cl_1"}, sent[0]["X-Service-Account"])
		assert.Contains(t, sent[0], "Idempotency-Key")
		assert.Equal(t, sent[0], sent[1])
		sent[0].Set("Authorization", "changed afterwards")
		assert.NotContains(t, sent[1], "Authorization")
	})
}

// If a context ends during a pause, the call ends there, after any attempt.
func TestAContextThatEndsInAPause(t *testing.T) {
	busy := refuses(http.StatusTooManyRequests, errors.CodeRateLimited, "Retry-After", "5")
	for left, attempts := range map[time.Duration]int{4 * time.Second: 1, 9 * time.Second: 2} {
		t.Run(fmt.Sprint(left), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(left, cancel)
				started := time.Now()
				svc := script(busy)
				_, err := send(ctx, newClient(t, host, through(svc)), &bookThing, transport.Call{})
				require.ErrorIs(t, err, context.Canceled)
				_, undelivered := errors.AsType[*errors.NotDelivered](err)
				assert.True(t, undelivered, "%v", err)
				assert.Equal(t, left, time.Since(started))
				assert.Len(t, svc.attempts(), attempts)
			})
		})
	}
}

// If the credential of an attempt cannot be obtained, the call ends. The earlier attempts decide what its end means.
func TestAnAttemptThatCannotBePrepared(t *testing.T) {
	down := errors.New("no credential")
	for name, tc := range map[string]struct {
		first   step
		unknown bool
	}{"refused": {refuses(http.StatusTooManyRequests, errors.CodeRateLimited), false}, "lost": {lostResponse, true}} {
		for allowed := range 3 {
			t.Run(fmt.Sprint(name, " ", allowed), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					svc := script(tc.first)
					asked := 0
					auth := authorizerFunc(func() error {
						if asked++; asked > allowed {
							return down
						}
						return nil
					})
					_, err := sendKeyed(t.Context(), newClient(t, host, through(svc), authorizedBy(auth)), &bookThing,
						transport.Call{})
					require.ErrorIs(t, err, down)
					_, unknown := errors.AsType[*errors.InDoubt](err)
					assert.Equal(t, tc.unknown && allowed > 0, unknown, "%v", err)
					assert.Len(t, svc.attempts(), allowed)
				})
			})
		}
	}
}

type authorizerFunc func() error

func (f authorizerFunc) Authorize(context.Context, http.Header) error { return f() }

// A caller's transport may break net/http's promises. That counts as a lost response, and does not panic.
func TestTransportsThatBreakTheRoundTripperContract(t *testing.T) {
	response := func(req *http.Request) *http.Response {
		resp, _ := ok(req)
		return resp
	}
	for name, tc := range map[string]struct {
		outcome step
		success bool
	}{
		"neither response nor error": {func(*http.Request) (*http.Response, error) { return nil, nil }, false},
		"response and error": {func(req *http.Request) (*http.Response, error) {
			return response(req), io.ErrClosedPipe
		}, false},
		"no body": {func(req *http.Request) (*http.Response, error) {
			resp := response(req)
			resp.Body, resp.ContentLength = nil, 0
			return resp, nil
		}, false},
		"no header": {func(req *http.Request) (*http.Response, error) {
			resp := response(req)
			resp.Header = nil
			return resp, nil
		}, true},
	} {
		for _, op := range []*transport.Operation{&readThing, &bookThing, &spendThing} {
			t.Run(name+"/"+op.ID, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					_, err := send(t.Context(), newClient(t, host, through(script(tc.outcome))), op, transport.Call{})
					if tc.success {
						require.NoError(t, err)
						return
					}
					require.Error(t, err)
					_, unknown := errors.AsType[*errors.InDoubt](err)
					assert.Equal(t, op.Method != http.MethodGet, unknown, "%v", err)
				})
			})
		}
	}
}

// untilDone reads nothing until its request is over.
type untilDone struct{ req *http.Request }

func (u untilDone) Read([]byte) (int, error) {
	<-u.req.Context().Done()
	return 0, u.req.Context().Err()
}

// This is the whole policy, as the package documentation of moneymovement states it: which call is repeated after what.
// Rule: status.*
func TestRetryPolicy(t *testing.T) {
	const (
		read = 1 << iota
		keyed
		natural
		never
		unkeyed    // the key would anchor it, and there is none
		everyone   = read | keyed | natural | never | unkeyed
		repeatable = read | keyed | natural
		nobody     = 0
	)
	operations := map[int]*transport.Operation{read: &readThing, keyed: &bookThing, natural: &confirmThing,
		never: &spendThing, unkeyed: &sendThing}

	policy := map[string]struct {
		outcome step
		retried int
	}{
		"no connection":       {noConnection, everyone},
		"no such host":        {noSuchHost, everyone},
		"response lost":       {lostResponse, repeatable},
		"response broken off": {brokenResponse, repeatable},
		"200 no JSON":         {page(http.StatusOK), nobody},
		"200 unreadable":      {responds(http.StatusOK, `{"id":`), nobody},
		"302":                 {responds(http.StatusFound, "", "Location", "https://elsewhere.example/"), nobody},
		"408 envelope":        {refuses(http.StatusRequestTimeout, "timeout"), repeatable},
		"408 page":            {page(http.StatusRequestTimeout), repeatable},
		"429 envelope":        {refuses(http.StatusTooManyRequests, errors.CodeRateLimited), everyone},
		"429 page":            {page(http.StatusTooManyRequests), everyone},
		"500 envelope":        {refuses(http.StatusInternalServerError, errors.CodeInternalError), read},
		"500 page":            {page(http.StatusInternalServerError), read},
		"501 envelope":        {refuses(http.StatusNotImplemented, errors.CodeLoginModeUnavailable), nobody},
		"501 page":            {page(http.StatusNotImplemented), nobody},
		"502 page":            {page(http.StatusBadGateway), repeatable},
		"503 envelope":        {refuses(http.StatusServiceUnavailable, errors.CodeProviderUnavailable), repeatable},
		"503 page":            {page(http.StatusServiceUnavailable), repeatable},
		"504 page":            {page(http.StatusGatewayTimeout), repeatable},
		"505 page":            {page(http.StatusHTTPVersionNotSupported), nobody},
		"401 unauthenticated": {refuses(http.StatusUnauthorized, errors.CodeUnauthenticated), nobody},
	}
	for _, status := range []int{400, 403, 404, 405, 409, 410, 413, 422} {
		policy[fmt.Sprint(status)] = struct {
			outcome step
			retried int
		}{refuses(status, "some_slug"), nobody}
	}
	for name, row := range policy {
		for kind, op := range operations {
			t.Run(name+"/"+op.ID, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					svc := script(row.outcome)
					var response moneymovement.Response
					_, err := send(t.Context(), newClient(t, host, through(svc)), op,
						transport.Kept(&response))

					require.Error(t, err)
					want := 1
					if row.retried&kind != 0 {
						want = 4
					}
					assert.Len(t, svc.attempts(), want)
					assert.Equal(t, want, response.Attempts)
				})
			})
		}
	}
}

// Whatever happens, every attempt of one write has the same key and the same bytes.
func TestAttemptsOfOneWriteAreIdentical(t *testing.T) {
	for name, call := range map[string]transport.Call{
		"no key":           {},
		"the caller's key": transport.Keyed("invoice-42"),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var response moneymovement.Response
				call.CaptureRevealing = []*moneymovement.Response{&response}
				svc := script(lostResponse, brokenResponse,
					refuses(http.StatusTooManyRequests, errors.CodeRateLimited), ok)
				_, err := send(t.Context(), newClient(t, host, through(svc)), &bookThing, call)

				require.NoError(t, err)
				require.Len(t, svc.attempts(), 4)
				for i, attempt := range svc.attempts() {
					assert.Equal(t, response.IdempotencyKey, keys(svc.attempts())[i])
					assert.JSONEq(t, `{"name":"Bob"}`, attempt.body)
					assert.Equal(t, svc.attempts()[0].body, attempt.body)
					assert.Equal(t, svc.attempts()[0].header, attempt.header)
				}
				assert.Equal(t, string(call.Key), response.IdempotencyKey)
			})
		})
	}
}

func TestLargestNumberOfRetriesDoesNotOverflow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		svc := script(noConnection, noConnection, noConnection, noConnection, noConnection, ok)
		_, err := send(t.Context(),
			newClient(t, host, through(svc), retries(moneymovement.RetryPolicy{Max: math.MaxInt})),
			&readThing, transport.Call{})
		require.NoError(t, err)
		assert.Len(t, svc.attempts(), 6)
	})
}

// A call that gives up because its deadline leaves no room for the next attempt fails with the deadline's error.
func TestBackoffBeyondTheDeadlineIsDeadlineExceeded(t *testing.T) {
	busy := refuses(429, errors.CodeRateLimited, "Retry-After", "30")
	for name, tc := range map[string]struct {
		op    *transport.Operation
		steps []step
		kind  error
		ended bool
	}{
		"a lost write": {&bookThing, []step{lostResponse}, &errors.InDoubt{}, true},
		"a lost write that is turned away": {&bookThing, []step{refuses(503, errors.CodeProviderUnavailable), busy},
			&errors.InDoubt{}, true},
		"no connection":       {&bookThing, []step{noConnection}, &errors.NotDelivered{}, true},
		"a lost read":         {&readThing, []step{lostResponse}, &errors.NotDelivered{}, true},
		"a refusal stays one": {&bookThing, []step{busy}, &errors.RateLimited{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
				defer cancel()
				policy := moneymovement.RetryPolicy{Max: 10, WaitMin: 2 * time.Second}
				_, err := send(ctx, newClient(t, host, through(script(tc.steps...)), retries(policy)), tc.op,
					transport.Call{})
				assert.Equal(t, fmt.Sprintf("%T", tc.kind), fmt.Sprintf("%T", err))
				assert.NoError(t, ctx.Err(), "it did not wait for nothing")
				assert.Equal(t, tc.ended, errors.Is(err, context.DeadlineExceeded), "%v", err)
				assert.Equal(t, tc.ended, strings.Contains(err.Error(), "leaves no time"), "%v", err)
			})
		})
	}
}

// canned returns responses with as few allocations as possible, so that only our own and http.Client's are measured.
type canned struct {
	status int
	body   string
	header http.Header
}

func (c canned) RoundTrip(req *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: c.status, Header: c.header, Body: io.NopCloser(strings.NewReader(c.body)),
		ContentLength: int64(len(c.body)), Request: req}, nil
}

var cannedHeader = http.Header{"Content-Type": {"application/json"}, "X-Request-Id": {"req_1"}}

// This finds gross waste, such as a second decode or a buffer for each response. Benchmarks measure the rest.
func TestOneReadCostsLittle(t *testing.T) {
	if testing.CoverMode() != "" || raceDetector {
		t.Skip("code that the race detector instruments allocates more; make allocations runs it without")
	}
	client := newClient(t, host, through(canned{http.StatusOK, oneThing, cannedHeader}),
		limitedBy(ratewindow.New(windows{
			moneymovement.WindowReads: {Calls: 1 << 20, Per: 1}}, nil)))
	ctx := t.Context()
	allocations := testing.AllocsPerRun(200, func() {
		_, err := send(ctx, client, &readThing, transport.Call{})
		require.NoError(t, err)
	})
	t.Logf("%v allocations", allocations)
	require.LessOrEqual(t, allocations, 20.0)
}

// A refusal that is not repeated does not reach the code for retries, and makes no value. Looking for secrets in it,
// and for a wait in its header, costs no allocation.
func TestOneRefusalCostsLittle(t *testing.T) {
	if testing.CoverMode() != "" || raceDetector {
		t.Skip("code that the race detector instruments allocates more; make allocations runs it without")
	}
	const refused = `{"error":{"code":"not_found","message":"no such thing","details":{"requestId":"req_1"}}}`
	client := newClient(t, host, through(canned{http.StatusNotFound, refused, cannedHeader}))
	ctx, call := t.Context(), transport.Call{Auth: bearing{"token-of-the-canary-that-is-longer-than-a-buffer",
		"key-of-it"}}
	allocations := testing.AllocsPerRun(200, func() {
		_, err := send(ctx, client, &readThing, call)
		require.Error(t, err)
	})
	t.Logf("%v allocations", allocations)
	require.LessOrEqual(t, allocations, 23.0)
}
