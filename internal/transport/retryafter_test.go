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
func TestACallThatEndsInThePauseSaysWhenToComeBack(t *testing.T) {
	refused := refuses(http.StatusTooManyRequests, errors.CodeRateLimited, "Retry-After", "30")
	away := refuses(http.StatusServiceUnavailable, errors.CodeDatabaseUnavailable)
	for name, tc := range map[string]struct {
		op    *transport.Operation
		steps []step
	}{
		"a read":                          {&readThing, []step{refused, ok}},
		"a write":                         {&bookThing, []step{refused, ok}},
		"a write that may have been made": {&bookThing, []step{lostAnswer, refused, ok}},
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
