package transport_test

import (
	"context"
	"sync"
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

// Who cannot be served before its deadline is told so at once, with the time to come again, and costs the others
// nothing.
func TestDeadlineBeforeTheTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limiter := ratewindow.New(windows{moneymovement.WindowWrites: {Calls: 1,
			Per: time.Minute}}, nil)
		svc := script(ok)
		client := newClient(t, host, through(svc), limitedBy(limiter))
		started := time.Now()
		_, err := send(t.Context(), client, &bookThing, transport.Call{})
		require.NoError(t, err)

		for range 3 {
			ctx, cancel := context.WithTimeout(t.Context(), minute) // its end is no time to send at
			_, err = send(ctx, client, &bookThing, transport.Keyed("invoice-42"))
			cancel()
			var undelivered *errors.NotDelivered
			require.ErrorAs(t, err, &undelivered)
			assert.Equal(t, started.Add(minute), undelivered.RetryAt)
			assert.Equal(t, "invoice-42", undelivered.IdempotencyKey)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			assert.Zero(t, time.Since(started), "told at once")
		}
		_, err = send(t.Context(), client, &bookThing, transport.Call{})
		require.NoError(t, err)
		assert.Equal(t, minute, time.Since(started), "the turned away took no slot")
		assert.Len(t, svc.attempts(), 2)
	})
}

// What the client asks its limiter: once an attempt, with the account where the window counts for one.
func TestEveryAttemptAsksTheLimiter(t *testing.T) {
	type asked struct {
		window moneymovement.Window
		scope  string
	}
	var mu sync.Mutex
	var questions []asked
	limiter := limiterFunc(func(_ context.Context, call moneymovement.RateCall) error {
		mu.Lock()
		defer mu.Unlock()
		questions = append(questions, asked{call.Window, call.Scope})
		return nil
	})
	synctest.Test(t, func(t *testing.T) {
		client := newClient(t, host, through(script(lostAnswer, ok)), limitedBy(limiter))
		deposit := transport.Operation{ID: "Deposit", Method: "POST", Path: "/deposits", Repeat: transport.RepeatKey,
			Window: moneymovement.WindowSandboxMoney, Answer: &thingAnswer}
		for _, op := range []*transport.Operation{&bookThing, &deposit} {
			r := transport.NewRequest(op, "cl_1", transport.Call{})
			_, err := transport.Do[thing](t.Context(), client, r)
			require.NoError(t, err)
		}
	})
	assert.Equal(t, []asked{{moneymovement.WindowWrites, ""}, {moneymovement.WindowWrites, ""},
		{moneymovement.WindowSandboxMoney, "cl_1"}, {moneymovement.WindowWrites, ""}}, questions,
		"sandbox money is a write as well")
}

// A limiter's own failure sends nothing; between attempts it does not hide what happened before.
func TestLimiterThatFails(t *testing.T) {
	broken := errors.New("limiter's store is down")
	synctest.Test(t, func(t *testing.T) {
		for name, tc := range map[string]struct {
			first step
			kind  error
		}{
			"before the first attempt": {nil, &errors.NotDelivered{}},
			"after a refused attempt":  {refuses(429, errors.CodeRateLimited), &errors.NotDelivered{}},
			"after a lost one":         {lostAnswer, &errors.InDoubt{}},
		} {
			passes := 0
			if tc.first != nil {
				passes = 1
			}
			limiter := limiterFunc(func(context.Context, moneymovement.RateCall) error {
				if passes--; passes < 0 {
					return broken
				}
				return nil
			})
			_, err := send(t.Context(), newClient(t, host, through(script(tc.first)), limitedBy(limiter)), &bookThing,
				transport.Call{})
			require.ErrorIs(t, err, broken, name)
			assert.Equal(t, typeName(tc.kind), typeName(err), name)
		}
	})
}

type limiterFunc func(context.Context, moneymovement.RateCall) error

func (f limiterFunc) Wait(ctx context.Context, call moneymovement.RateCall) error {
	return f(ctx, call)
}

// minute is how long a call counts in a window of a minute.
const minute = 61 * time.Second
