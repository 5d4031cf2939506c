package transport_test

import (
	"context"
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// unavailable is a refusal of a service that is down for a moment.
var unavailable = refuses(http.StatusServiceUnavailable, errors.CodeProviderUnavailable)

// Pauses double up to eight seconds. Each is random in the upper half of its bound.
func TestBackoffsDouble(t *testing.T) {
	bounds := []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 8 * time.Second}
	synctest.Test(t, func(t *testing.T) {
		const calls = 15 // as many as the budget has retries for
		shortest, longest := 1.0, 0.0
		client := func(svc *service) *transport.Client {
			return newClient(t, host, through(svc),
				retries(moneymovement.RetryPolicy{Max: len(bounds), WaitMin: time.Second}))
		}
		for range 4 * calls {
			svc := script(unavailable)
			_, err := send(t.Context(), client(svc), &readThing, transport.Call{})
			require.Error(t, err)
			attempts := svc.attempts()
			require.Len(t, attempts, len(bounds)+1)
			for i, bound := range bounds {
				part := float64(attempts[i+1].at.Sub(attempts[i].at)) / float64(bound)
				assert.GreaterOrEqual(t, part, 0.5)
				assert.LessOrEqual(t, part, 1.0)
				shortest, longest = min(shortest, part), max(longest, part)
			}
		}
		assert.Less(t, shortest, 0.55)
		assert.Greater(t, longest, 0.95)
	})
}

// A rig that repeats a run gives the random part of each pause.
func TestJitterOfABackoffCanBeSet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked []time.Duration
		ctx := transport.WithRandom(t.Context(), func(below time.Duration) time.Duration {
			asked = append(asked, below)
			return below - 1
		})
		svc := script(unavailable)
		policy := retries(moneymovement.RetryPolicy{Max: 2, WaitMin: time.Second})
		_, err := send(ctx, newClient(t, host, through(svc), policy), &readThing, transport.Call{})
		require.Error(t, err)
		attempts := svc.attempts()
		require.Len(t, attempts, 3)
		assert.Equal(t, time.Second, attempts[1].at.Sub(attempts[0].at))
		assert.Equal(t, 2*time.Second, attempts[2].at.Sub(attempts[1].at))
		assert.Equal(t, []time.Duration{time.Second/2 + 1, time.Second + 1}, asked)
	})
}

// A pause fits if its bound ends before the deadline. That shows the first bound of a client with the default: a
// quarter of a second.
func TestTheDefaultBackoff(t *testing.T) {
	for room, attempts := range map[time.Duration]int{250 * time.Millisecond: 1, 250*time.Millisecond + 1: 2} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), room)
			defer cancel()
			svc := script(unavailable, ok)
			_, err := send(ctx, newClient(t, host, through(svc), retries(moneymovement.RetryPolicy{})), &readThing,
				transport.Call{})
			assert.Equal(t, attempts == 2, err == nil, "%v", err)
			assert.Len(t, svc.attempts(), attempts)
		})
	}
}

// It doubles ten times, so a client that begins with a millisecond never waits for longer than a second.
func TestBackoffsDoubleTenTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		svc := script(unavailable)
		_, err := send(t.Context(),
			newClient(t, host, through(svc), retries(moneymovement.RetryPolicy{Max: 20, WaitMin: time.Millisecond})),
			&readThing,
			transport.Call{})
		require.Error(t, err)
		attempts := svc.attempts()
		require.Len(t, attempts, 21)
		for i := 12; i < len(attempts); i++ {
			pause := attempts[i].at.Sub(attempts[i-1].at)
			assert.True(t, pause >= 512*time.Millisecond && pause <= 1024*time.Millisecond, pause)
		}
	})
}

// A value that is not set has a default. A value that is set does not, however short it is.
func TestShortestRetryPolicyIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		_, err := send(ctx,
			newClient(t, host, through(script(unavailable, ok)), retries(moneymovement.RetryPolicy{WaitMin: 1})),
			&readThing, transport.Call{})
		require.NoError(t, err)

		busy := refuses(http.StatusTooManyRequests, errors.CodeRateLimited, "Retry-After", "1")
		_, err = send(t.Context(),
			newClient(t, host, through(script(busy, ok)), retries(moneymovement.RetryPolicy{WaitMax: 1})),
			&readThing, transport.Call{})
		require.Error(t, err, "a second is longer than it waits")

		svc := script(unavailable)
		_, err = send(t.Context(), newClient(t, host, through(svc), retries(moneymovement.RetryPolicy{Max: -1})),
			&readThing,
			transport.Call{})
		require.Error(t, err)
		assert.Len(t, svc.attempts(), 1)
	})
}

// A step of several calls is repeated like one call: as often, after the same pauses, and from the same budget.
func TestStepOfSeveralCallsIsRetriedLikeOneCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		policy := moneymovement.RetryPolicy{Max: 2, WaitMin: time.Second, WaitMax: 10 * time.Second}
		client := newClient(t, host, through(script(ok)), retries(policy))
		again := func(tried int, err error) (time.Duration, bool) { return client.Again(t.Context(), tried, err) }
		asked := func(wait time.Duration) error {
			return &errors.Refusal{CallInfo: errors.CallInfo{RetryAt: time.Now().Add(wait)}}
		}
		plain := errors.New("down")

		pause, allowed := again(0, plain)
		assert.True(t, allowed)
		assert.True(t, pause >= time.Second/2 && pause <= time.Second, pause)
		pause, allowed = again(1, plain)
		assert.True(t, allowed)
		assert.True(t, pause >= time.Second && pause <= 2*time.Second, pause)
		_, allowed = again(2, plain)
		assert.False(t, allowed, "as often as the policy says")

		pause, allowed = again(0, asked(10*time.Second))
		assert.True(t, allowed)
		assert.Equal(t, 10*time.Second, pause, "what the service asked for")
		_, allowed = again(0, asked(10*time.Second+1))
		assert.False(t, allowed, "longer than the policy waits")

		begun := 3 // which were paid for
		for ; begun < 1000; begun++ {
			if _, allowed = again(0, plain); !allowed {
				break
			}
		}
		assert.Equal(t, 100, begun, "the budget is spent")
	})
}

// A call that is over leaves no timer of its timeout behind.
func TestACallThatIsOverHasNoTimer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		auth := new(noticing)
		var call transport.Call
		call.Timeout = new(time.Hour)
		_, err := send(t.Context(), newClient(t, host, through(script(ok)), authorizedBy(auth)), &readThing, call)
		require.NoError(t, err)
		assert.ErrorIs(t, auth.of.Err(), context.Canceled)
	})
}

// noticing notes the context of the call.
type noticing struct{ of context.Context }

func (n *noticing) Authorize(ctx context.Context, _ http.Header) error {
	n.of = ctx
	return nil
}

// A failed attempt leaves no goroutine behind.
func TestAFailedAttemptIsOver(t *testing.T) {
	var of []context.Context
	next := script(func(req *http.Request) (*http.Response, error) {
		of = append(of, req.Context())
		return lostResponse(req)
	}, func(req *http.Request) (*http.Response, error) {
		of = append(of, req.Context())
		return ok(req)
	})
	_, err := send(t.Context(), newClient(t, host, through(next)), &readThing, transport.Call{})
	require.NoError(t, err)
	require.Len(t, of, 2)
	for _, ctx := range of {
		assert.ErrorIs(t, ctx.Err(), context.Canceled)
	}
}

// A large Retry-After does not overflow, and a call does not sleep for longer than its policy says.
// Rule: rate.retry-after, status.429
func TestRetryAfterIsFollowedOrReturnedAtOnce(t *testing.T) {
	const most = 65 * time.Second
	for name, tc := range map[string]struct {
		value    string
		deadline time.Duration // 0 for none
		waits    time.Duration // before the second attempt; -1 if there is none, 0 for the usual backoff
		retryIn  time.Duration // as the returned refusal says
	}{
		"seconds":                 {value: "7", waits: 7 * time.Second},
		"zero":                    {value: "0", waits: 0},
		"the longest wait":        {value: "65", waits: most},
		"negative":                {value: "-5", waits: 0},
		"a fraction":              {value: "2.5", waits: 3 * time.Second},
		"a list":                  {value: "20, 60", waits: time.Minute},
		"another zone":            {value: "Sat, 01 Jan 2000 01:00:09 +0100", waits: 9 * time.Second},
		"a leap second":           {value: "Sat, 01 Jan 2000 00:00:60 GMT", waits: time.Minute},
		"a date":                  {value: "Sat, 01 Jan 2000 00:00:09 GMT", waits: 9 * time.Second},
		"a date in the past":      {value: "Fri, 31 Dec 1999 23:59:59 GMT", waits: 0},
		"beyond the longest wait": {value: "66", waits: -1, retryIn: 66 * time.Second},
		"a date far away":         {value: "Fri, 31 Dec 9999 23:59:59 GMT", waits: -1, retryIn: 24 * time.Hour},
		"overflow of seconds":     {value: "99999999999999999999", waits: -1, retryIn: 24 * time.Hour},
		"overflow of a duration":  {value: "9223372037", waits: -1, retryIn: 24 * time.Hour},
		"beyond the deadline":     {value: "30", deadline: 20 * time.Second, waits: -1, retryIn: 30 * time.Second},
		"exactly at the deadline": {value: "20", deadline: 20 * time.Second, waits: -1, retryIn: 20 * time.Second},
		"within the deadline":     {value: "19", deadline: 20 * time.Second, waits: 19 * time.Second},
		"overflow under a deadline": {value: "18446744073709551616", deadline: time.Minute, waits: -1,
			retryIn: 24 * time.Hour},
		"a date beyond the deadline": {value: "Sat, 01 Jan 2000 00:00:30 GMT", deadline: 20 * time.Second, waits: -1,
			retryIn: 30 * time.Second},
	} {
		for _, status := range []int{http.StatusTooManyRequests, http.StatusServiceUnavailable} {
			t.Run(name+"/"+http.StatusText(status), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					started := time.Now()
					ctx := t.Context()
					if tc.deadline > 0 {
						var cancel context.CancelFunc
						ctx, cancel = context.WithTimeout(ctx, tc.deadline)
						defer cancel()
					}
					code := errors.CodeRateLimited
					if status == http.StatusServiceUnavailable {
						code = errors.CodeDatabaseUnavailable
					}
					svc := script(refuses(status, code, "Retry-After", tc.value), ok)
					_, err := send(ctx, newClient(t, host, through(svc), retries(moneymovement.RetryPolicy{})),
						&readThing,
						transport.Call{})

					if tc.waits >= 0 {
						require.NoError(t, err)
						require.Len(t, svc.attempts(), 2)
						waited := svc.attempts()[1].at.Sub(started)
						if tc.waits == 0 {
							assert.GreaterOrEqual(t, waited, 125*time.Millisecond)
							assert.LessOrEqual(t, waited, 250*time.Millisecond)
							return
						}
						assert.Equal(t, tc.waits, waited)
						return
					}
					refusal, ok := errors.AsType[*errors.Refusal](err)
					require.True(t, ok, "%v", err)
					assert.Equal(t, code, refusal.Code)
					assert.Equal(t, started.Add(tc.retryIn), refusal.RetryAt)
					assert.Equal(t, tc.retryIn, refusal.RetryAfter)
					assert.Zero(t, time.Since(started), "returned without sleeping")
					assert.Len(t, svc.attempts(), 1)
				})
			})
		}
	}
}

// A call that ends in the pause still says when the service asked to come back.
// Rule: rate.retry-after, status.429
func TestCallThatEndsDuringABackoffHasRetryAt(t *testing.T) {
	refused := refuses(http.StatusTooManyRequests, errors.CodeRateLimited, "Retry-After", "30")
	away := refuses(http.StatusServiceUnavailable, errors.CodeDatabaseUnavailable)
	for name, tc := range map[string]struct {
		op    *transport.Operation
		steps []step
	}{
		"a read":                          {&readThing, []step{refused, ok}},
		"a write":                         {&bookThing, []step{refused, ok}},
		"a write that may have been made": {&bookThing, []step{lostResponse, refused, ok}},
		"the second pause":                {&readThing, []step{away, refused, ok}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(20*time.Second, cancel)
				svc := script(tc.steps...)
				_, err := sendKeyed(ctx, newClient(t, host, through(svc)), tc.op, transport.Call{})
				require.ErrorIs(t, err, context.Canceled)
				call, is := errors.CallInfoOf(err)
				require.True(t, is, "%v", err)
				attempts := svc.attempts()
				assert.Equal(t, attempts[len(attempts)-1].at.Add(30*time.Second), call.RetryAt)
			})
		})
	}
}

// An unreadable Retry-After is ignored: the usual backoff applies.
func TestUnreadableRetryAfterFallsBackToBackoff(t *testing.T) {
	for _, value := range []string{"", "1e30", "soon", "1.5s", "+3", "NaN", "0x10", "１２"} {
		synctest.Test(t, func(t *testing.T) {
			started := time.Now()
			svc := script(refuses(http.StatusTooManyRequests, errors.CodeRateLimited, "Retry-After", value), ok)
			client := newClient(t, host, through(svc),
				retries(moneymovement.RetryPolicy{WaitMin: 400 * time.Millisecond}))
			_, err := send(t.Context(), client, &readThing, transport.Call{})

			require.NoError(t, err)
			waited := time.Since(started)
			assert.True(t, waited >= 200*time.Millisecond && waited <= 400*time.Millisecond, "%q waited %v", value,
				waited)
		})
	}
}

func TestBackoffDoublesWithinItsBounds(t *testing.T) {
	for name, tc := range map[string]struct {
		policy moneymovement.RetryPolicy
		bounds []time.Duration // the longest wait before each retry; the shortest is its half
	}{
		"the defaults": {moneymovement.RetryPolicy{}, []time.Duration{250 * time.Millisecond, 500 * time.Millisecond,
			time.Second}},
		"capped at eight seconds": {moneymovement.RetryPolicy{Max: 3, WaitMin: 5 * time.Second},
			[]time.Duration{5 * time.Second, 8 * time.Second, 8 * time.Second}},
		"capped by the policy": {moneymovement.RetryPolicy{Max: 2, WaitMin: time.Second,
			WaitMax: 300 * time.Millisecond},
			[]time.Duration{300 * time.Millisecond, 300 * time.Millisecond}},
		"a minimum that overflows when doubled": {
			moneymovement.RetryPolicy{Max: 12, WaitMin: 1 << 62},
			[]time.Duration{8 * time.Second, 8 * time.Second, 8 * time.Second, 8 * time.Second, 8 * time.Second,
				8 * time.Second, 8 * time.Second, 8 * time.Second, 8 * time.Second, 8 * time.Second, 8 * time.Second,
				8 * time.Second}},
		"never again": {moneymovement.RetryPolicy{Max: -1}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				svc := script(refuses(http.StatusServiceUnavailable, errors.CodeDatabaseUnavailable))
				_, err := send(t.Context(), newClient(t, host, through(svc), retries(tc.policy)), &readThing,
					transport.Call{})

				require.Error(t, err)
				attempts := svc.attempts()
				require.Len(t, attempts, len(tc.bounds)+1)
				for i, bound := range tc.bounds {
					waited := attempts[i+1].at.Sub(attempts[i].at)
					assert.True(t, waited >= bound/2 && waited <= bound, "retry %d waited %v of %v", i+1, waited, bound)
				}
			})
		})
	}
}

// A backoff that may outlast the deadline does not begin. The caller gets the refusal, not the deadline's error.
func TestBackoffBeyondTheDeadlineReturnsTheRefusal(t *testing.T) {
	for range 20 { // the wait is random
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 700*time.Millisecond)
			defer cancel()
			started := time.Now()
			svc := script(refuses(http.StatusServiceUnavailable, errors.CodeDatabaseUnavailable))
			client := newClient(t, host, through(svc), retries(moneymovement.RetryPolicy{WaitMin: time.Second}))
			_, err := send(ctx, client, &readThing, transport.Call{})

			var unavailable *errors.DatabaseUnavailable
			require.ErrorAs(t, err, &unavailable)
			assert.Zero(t, time.Since(started))
		})
	}
}

// Many callers of a service that is down must not multiply its load.
func TestRetryBudgetBoundsAnOutage(t *testing.T) {
	for name, outage := range map[string]step{
		"no connection": noConnection,
		"lost":          lostResponse,
		"503":           refuses(http.StatusServiceUnavailable, errors.CodeProviderUnavailable),
		"rate limited":  refuses(http.StatusTooManyRequests, errors.CodeRateLimited, "Retry-After", "0"),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const calls, budget = 1000, 100 // 500 tokens, 5 for each retry
				svc := script(outage)
				client := newClient(t, host, through(svc))
				for range calls {
					_, err := send(t.Context(), client, &readThing, transport.Call{})
					require.Error(t, err)
				}
				assert.Len(t, svc.attempts(), calls+budget)
			})
		})
	}
}

// That is so even after a long time without failures.
func TestRetryBudgetIsNotSavedUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const before, during, budget = 600, 200, 100
		svc := script(append(repeated(ok, before), noConnection)...)
		client := newClient(t, host, through(svc))
		for range before + during {
			_, _ = send(t.Context(), client, &readThing, transport.Call{})
		}
		assert.Len(t, svc.attempts(), before+during+budget)
	})
}

// Five successes pay for one retry. A response that is retried, refused or incomplete pays for nothing.
func TestSuccessesRefillTheRetryBudget(t *testing.T) {
	refill := map[string]struct {
		outcome step
		earns   bool
	}{
		"success":    {ok, true},
		"no JSON":    {page(http.StatusOK), true}, // the service worked
		"refusal":    {refuses(http.StatusNotFound, errors.CodeNotFound), false},
		"broken off": {brokenResponse, false},
		"redirect":   {responds(http.StatusFound, ""), false},
	}
	for name, tc := range refill {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				svc := script(noConnection)
				client := newClient(t, host, through(svc))
				for range 100 {
					_, _ = send(t.Context(), client, &readThing, transport.Call{})
				}
				_, _ = send(t.Context(), client, &readThing, transport.Call{})
				spent := len(svc.attempts())

				svc.steps = append(repeated(noConnection, spent), repeated(tc.outcome, 50)...)
				svc.steps = append(svc.steps, noConnection)
				for range 50 {
					_, _ = send(t.Context(), client, &spendThing, transport.Call{}) // one attempt each
				}
				before := len(svc.attempts())
				require.Equal(t, spent+50, before)
				for range 20 {
					_, _ = send(t.Context(), client, &readThing, transport.Call{})
				}
				retried := len(svc.attempts()) - before - 20
				if tc.earns {
					assert.Equal(t, 10, retried)
				} else {
					assert.Zero(t, retried)
				}
			})
		})
	}
}

// The budget is exact: a rest that is less than one retry pays for none.
func TestFourSuccessesEarnNoRetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const during, budget = 200, 100
		svc := script(append(append(repeated(noConnection, during+budget), repeated(ok, 4)...), noConnection)...)
		client := newClient(t, host, through(svc))
		for range during + 4 + 1 {
			_, _ = send(t.Context(), client, &readThing, transport.Call{})
		}
		assert.Len(t, svc.attempts(), during+budget+4+1)
	})
}

func repeated(s step, n int) []step {
	steps := make([]step, n)
	for i := range steps {
		steps[i] = s
	}
	return steps
}

// A call without a deadline is not repeated if the pause can last until the service has been silent for 45 s.
func TestTheLongestSilence(t *testing.T) {
	for silent, attempts := range map[time.Duration]int{37 * time.Second: 1, 37*time.Second - 1: 2} {
		synctest.Test(t, func(t *testing.T) {
			svc := script(func(*http.Request) (*http.Response, error) {
				time.Sleep(silent)
				return nil, io.ErrUnexpectedEOF
			}, ok)
			policy := retries(moneymovement.RetryPolicy{WaitMin: 8 * time.Second})
			_, _ = send(t.Context(), newClient(t, host, through(svc), policy), &readThing, transport.Call{})
			assert.Len(t, svc.attempts(), attempts)
		})
	}
}

// A pause that has ended does not say when to try again.
func TestAPauseThatIsOverIsNotReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		busy := refuses(429, errors.CodeRateLimited, "Retry-After", "10")
		policy := retries(moneymovement.RetryPolicy{Max: 1})
		_, err := send(t.Context(), newClient(t, host, through(script(busy, lostResponse)), policy), &readThing,
			transport.Call{})
		lost, ok := errors.AsType[*errors.NotDelivered](err)
		require.True(t, ok, "%v", err)
		assert.Zero(t, lost.RetryAt)
	})
}

// The response of an attempt that is repeated is closed, so that its connection can be used again.
func TestTheResponseOfARepeatedAttemptIsClosed(t *testing.T) {
	closed := false
	svc := script(func(req *http.Request) (*http.Response, error) {
		resp, err := unavailable(req)
		resp.Body = closing{resp.Body, &closed}
		return resp, err
	}, ok)
	_, err := send(t.Context(), newClient(t, host, through(svc)), &readThing, transport.Call{})
	require.NoError(t, err)
	assert.True(t, closed)
}
