package transport_test

import (
	"context"
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
func TestTheRandomPartOfAPauseCanBeGiven(t *testing.T) {
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
func TestTheShortestPolicyIsNoDefault(t *testing.T) {
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
func TestAgain(t *testing.T) {
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
		return lostAnswer(req)
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
