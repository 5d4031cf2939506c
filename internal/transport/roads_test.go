package transport_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// The tests in this file check that all attempts behave alike on both roads: the short road of a first attempt, and the
// road of a retry through go-retryablehttp and http.Client. A client may set the Timeout of http.Client or not.

// The package's documentation shows both roads as they are.
func TestTheRoadsAreAsTheDocumentationSays(t *testing.T) {
	text, err := os.ReadFile("doc.go")
	require.NoError(t, err)
	first, again, found := strings.Cut(string(text), "A retry goes")
	require.True(t, found)
	shared := steps(first)[2:6] // below a surface's own, to where the roads part

	for called, timeout := range timeouts {
		synctest.Test(t, func(t *testing.T) {
			var roads [][]string
			svc := step(func(req *http.Request) (*http.Response, error) {
				roads = append(roads, road())
				if len(roads) == 1 {
					return unavailable(req)
				}
				return ok(req)
			})
			_, err := send(t.Context(), newClient(t, host, throughFor(svc, timeout)), &readThing, transport.Call{})
			require.NoError(t, err)
			require.Len(t, roads, 2)
			assert.Equal(t, append(slices.Clone(shared), steps(again)...), roads[1], called)
			want := steps(first)[2:]
			if timeout > 0 { // which http.Client keeps
				want = slices.Insert(want, len(shared), steps(again)[2:4]...)
			}
			assert.Equal(t, want, roads[0], called)
		})
	}
}

// steps returns the functions in the numbered lines of a text.
func steps(text string) (names []string) {
	for _, line := range regexp.MustCompile(`(?m)^//  \d+\. ([^,]+),`).FindAllStringSubmatch(text, -1) {
		names = append(names, line[1])
	}
	return names
}

// road returns the functions on the way from a call to its caller, a RoundTrip, the outermost function first. The
// functions inside net/http are one step.
func road() (names []string) {
	callers := make([]uintptr, 100)
	frames := runtime.CallersFrames(callers[:runtime.Callers(3, callers)])
	for frame, more := frames.Next(); more; frame, more = frames.Next() {
		name := frame.Function[strings.LastIndex(frame.Function, "/")+1:]
		name = strings.TrimPrefix(strings.TrimSuffix(name, "[...]"), "go-")
		switch {
		case strings.HasPrefix(name, "transport_test.send"):
			slices.Reverse(names)
			return names
		case strings.HasPrefix(name, "transport_test."):
			name = "RoundTrip"
		case strings.HasPrefix(name, "http.") && name != "http.(*Client).Do":
			continue
		}
		names = append(names, name)
	}
	return nil
}

// timeouts are Timeouts of a caller's client.
var timeouts = map[string]time.Duration{"no timeout": 0, "a timeout": time.Minute}

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
func TestAttemptsAndPausesOfBothRoads(t *testing.T) {
	bounds := []time.Duration{250 * time.Millisecond, 500 * time.Millisecond, time.Second}
	for called, timeout := range timeouts {
		for name, end := range map[string]step{"refused": unavailable, "lost": lostAnswer, "broken off": brokenAnswer,
			"no connection": noConnection} {
			t.Run(name+"/"+called, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					svc := script(end, end, end, ok)
					client := newClient(t, host, throughFor(svc, timeout), retries(moneymovement.RetryPolicy{}))
					var answer moneymovement.Response
					_, err := send(t.Context(), client, &bookThing,
						transport.Keyed("invoice-42", &answer))
					require.NoError(t, err)
					at := times(svc.attempts())
					require.Len(t, at, 4)
					assert.Equal(t, 4, answer.Attempts)
					for i, bound := range bounds {
						pause := at[i+1] - at[i]
						assert.True(t, pause >= bound/2 && pause <= bound, "pause %d is %v", i+1, pause)
					}
				})
			})
		}
	}
}

// A call waits exactly as long as the service asks for, after the first attempt and after any other, in every spelling
// of the header.
func TestRetryAfterOfBothRoads(t *testing.T) {
	busy := func(after string) step {
		return refuses(http.StatusTooManyRequests, errors.CodeRateLimited, "Retry-After", after)
	}
	for called, timeout := range timeouts {
		t.Run(called, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				date := time.Now().Add(9 * time.Second).UTC().Format(http.TimeFormat)
				svc := script(busy("2"), busy("3"), busy(date), ok)
				_, err := send(t.Context(), newClient(t, host, throughFor(svc, timeout)), &readThing, transport.Call{})
				require.NoError(t, err)
				assert.Equal(t, []time.Duration{0, 2 * time.Second, 5 * time.Second, 9 * time.Second},
					times(svc.attempts()))
			})
		})
	}
}

// The Timeout of the caller's client is for one attempt. Pauses do not count. Each attempt has the whole Timeout, up to
// the end of its body.
func TestTimeoutOfBothRoads(t *testing.T) {
	const timeout = 7 * time.Second
	const pause = 2 * time.Second
	busy := refuses(http.StatusTooManyRequests, errors.CodeRateLimited, "Retry-After", "2")
	quick := func(longest time.Duration) moneymovement.RetryPolicy {
		return moneymovement.RetryPolicy{Max: 2, WaitMin: 1, WaitMax: longest}
	}
	for name, tc := range map[string]struct {
		hangs step
		says  string
	}{
		"no answer": {hangs, "context deadline exceeded (Client.Timeout exceeded while awaiting headers)"},
		"half an answer": {breaksOff,
			"the response ended after 5 bytes: context deadline exceeded (Client.Timeout " +
				"or context cancellation while reading body)"},
	} {
		for position, steps := range map[string][]step{
			"at first": {tc.hangs, ok}, "again": {busy, tc.hangs, ok}, "at last": {busy, busy, tc.hangs},
			"always": {tc.hangs},
		} {
			t.Run(name+"/"+position, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					svc := script(steps...)
					started := time.Now()
					_, err := send(t.Context(),
						newClient(t, host, throughFor(svc, timeout), retries(quick(time.Minute))), &bookThing,
						transport.Keyed("invoice-42"))
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
					unknown, ok := errors.AsType[*errors.OutcomeUnknown](err)
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
	time.Sleep(time.Nanosecond) // for http.Client to notice its Timeout, which ends the context in the same moment
	return nil, req.Context().Err()
}

// breaksOff sends five bytes, and no more until the request ends.
func breaksOff(req *http.Request) (*http.Response, error) {
	resp, err := ok(req)
	resp.Body = io.NopCloser(io.MultiReader(strings.NewReader(oneThing[:5]), untilDone{req}))
	return resp, err
}

// A redirect is the response, and is not followed. Its address is not printed, and an unreadable address does not
// replace the response.
func TestRedirectsOfBothRoads(t *testing.T) {
	for name, address := range map[string]string{
		"to another host":   "https://elsewhere.example/s3cret",
		"to an invalid URL": "http://s3cret:s3cret",
	} {
		redirect := answers(http.StatusTemporaryRedirect, "", "Location", address)
		for called, timeout := range timeouts {
			for position, steps := range map[string][]step{"at first": {redirect}, "again": {unavailable, redirect}} {
				t.Run(name+"/"+position+"/"+called, func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						svc := script(append(slices.Clone(steps), ok)...)
						_, err := send(t.Context(), newClient(t, host, throughFor(svc, timeout)), &readThing,
							transport.Call{})
						var unexpected *errors.UnexpectedResponse
						require.ErrorAs(t, err, &unexpected)
						assert.Equal(t, http.StatusTemporaryRedirect, unexpected.Status)
						assert.NotContains(t, err.Error(), "s3cret")
						assert.Len(t, svc.attempts(), len(steps))
					})
				})
			}
		}
	}
}

// endless is the body of a response without an end. It counts the bytes that are read.
type endless struct{ read int }

func (e *endless) Read(p []byte) (int, error) {
	e.read += len(p)
	return len(p), nil
}

// At most 4 KiB of a response that is retried are read, so that an endless one blocks nothing.
func TestAnEndlessRefusalOnBothRoads(t *testing.T) {
	for called, timeout := range timeouts {
		t.Run(called, func(t *testing.T) {
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
				_, err := send(t.Context(), newClient(t, host, throughFor(svc, timeout)), &readThing, transport.Call{})
				require.NoError(t, err)
				assert.Equal(t, []endless{{4 << 10}, {4 << 10}}, bodies)
			})
		})
	}
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
func TestEachAttemptIsPreparedOnBothRoads(t *testing.T) {
	for called, timeout := range timeouts {
		t.Run(called, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				auth, svc := new(numbered), script(unavailable, lostAnswer, brokenAnswer, ok)
				log := new(statuses)
				client := newClient(t, host, throughFor(svc, timeout), authorizedBy(auth), limitedBy(auth),
					func(c *transport.Config) { c.Logger = slog.New(log) })
				_, err := sendKeyed(t.Context(), client, &bookThing, transport.Call{})
				require.NoError(t, err)
				assert.Equal(t, []string{"Bearer 1", "Bearer 2", "Bearer 3", "Bearer 4"}, credentials(svc.attempts()))
				assert.Equal(t, 4, auth.paced)
				assert.Equal(t, []string{"1: 503", "2: 0", "3: 200", "4: 200"}, log.seen)
			})
		})
	}
}

// If a context ends during a pause, the call ends there, after any attempt.
func TestAContextThatEndsInAPause(t *testing.T) {
	busy := refuses(http.StatusTooManyRequests, errors.CodeRateLimited, "Retry-After", "5")
	for called, timeout := range timeouts {
		for left, attempts := range map[time.Duration]int{4 * time.Second: 1, 9 * time.Second: 2} {
			t.Run(fmt.Sprint(called, "/", left), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					ctx, cancel := context.WithCancel(t.Context())
					time.AfterFunc(left, cancel)
					started := time.Now()
					svc := script(busy)
					_, err := send(ctx, newClient(t, host, throughFor(svc, timeout)), &bookThing, transport.Call{})
					require.ErrorIs(t, err, context.Canceled)
					_, undelivered := errors.AsType[*errors.NotDelivered](err)
					assert.True(t, undelivered, "%v", err)
					assert.Equal(t, left, time.Since(started))
					assert.Len(t, svc.attempts(), attempts)
				})
			})
		}
	}
}

// If the credential of an attempt cannot be obtained, the call ends. The earlier attempts decide what its end means.
func TestAnAttemptThatCannotBePrepared(t *testing.T) {
	down := errors.New("no credential")
	for called, timeout := range timeouts {
		for name, tc := range map[string]struct {
			first   step
			unknown bool
		}{"refused": {refuses(http.StatusTooManyRequests, errors.CodeRateLimited), false}, "lost": {lostAnswer, true}} {
			for allowed := range 3 {
				t.Run(fmt.Sprint(name, " ", allowed, "/", called), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						svc := script(tc.first)
						asked := 0
						auth := authorizerFunc(func() error {
							if asked++; asked > allowed {
								return down
							}
							return nil
						})
						_, err := sendKeyed(t.Context(),
							newClient(t, host, throughFor(svc, timeout), authorizedBy(auth)), &bookThing,
							transport.Call{})
						require.ErrorIs(t, err, down)
						_, unknown := errors.AsType[*errors.OutcomeUnknown](err)
						assert.Equal(t, tc.unknown && allowed > 0, unknown, "%v", err)
						assert.Len(t, svc.attempts(), allowed)
					})
				})
			}
		}
	}
}

type authorizerFunc func() error

func (f authorizerFunc) Authorize(context.Context, http.Header) error { return f() }
