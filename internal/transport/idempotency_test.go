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

// Rule: idempotency.optional, idempotency.derived
func TestNoKeyIsMadeUp(t *testing.T) {
	svc := script(ok)
	client := newClient(t, host, through(svc))
	for _, op := range []*transport.Operation{&readThing, &bookThing, &bookThing, &sendThing, &confirmThing,
		&spendThing, &deleteThing, &loginThing} {
		var answer moneymovement.Response
		_, err := send(t.Context(), client, op, transport.Kept(&answer))
		require.NoError(t, err)
		assert.Empty(t, answer.IdempotencyKey)
	}
	for _, key := range keys(svc.attempts()) {
		assert.Empty(t, key)
	}
}

func TestARequiredKey(t *testing.T) {
	require.NoError(t, transport.RequireKey(&sendThing, "invoice-42"))
	for key, code := range map[string]string{"": "missing", "a b": "pattern"} {
		var refused *errors.InvalidInput
		require.ErrorAs(t, transport.RequireKey(&sendThing, key), &refused)
		assert.Equal(t, "SendThing", refused.Operation)
		require.Len(t, refused.Fields, 1)
		assert.Equal(t, "Idempotency-Key", refused.Fields[0].Field)
		assert.Equal(t, code, refused.Fields[0].Code)
		if key == "" {
			assert.Contains(t, refused.Fields[0].Message, "moneymovement.DeriveKey")
		}
	}
}

// slowly is a step that ends only after a time.
func slowly(after time.Duration, end step) step {
	return func(req *http.Request) (*http.Response, error) {
		time.Sleep(after)
		return end(req)
	}
}

// The service repeats its response for two hours under a derived key. Under the caller's key it does so for as long as
// any call takes.
//
// Rule: idempotency.lifetimes
func TestACallWithoutAKeyIsRepeatedForTwoHours(t *testing.T) {
	for name, tc := range map[string]struct {
		call     transport.Call
		took     time.Duration // until the answer got lost
		attempts int
	}{
		"within two hours":        {transport.Call{}, 118 * time.Minute, 2},
		"a minute before":         {transport.Call{}, 119 * time.Minute, 1}, // which a repetition may take on its way
		"after two hours":         {transport.Call{}, 121 * time.Minute, 1},
		"after, with its own key": {transport.Keyed("k"), 121 * time.Minute, 2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				svc := script(slowly(tc.took, lostAnswer), ok)
				ctx, cancel := context.WithTimeout(t.Context(), 4*time.Hour) // without one, the call ends in a minute
				defer cancel()
				_, err := send(ctx, newClient(t, host, through(svc)), &bookThing, tc.call)
				assert.Len(t, svc.attempts(), tc.attempts)
				if tc.attempts == 2 {
					require.NoError(t, err)
					return
				}
				var unknown *errors.OutcomeUnknown
				require.ErrorAs(t, err, &unknown)
				assert.False(t, unknown.Retryable())
				assert.Equal(t, "read the resource before you repeat the request", unknown.Resolve)
			})
		})
	}
}

// waitsLonger is a limiter that makes the second attempt wait.
type waitsLonger struct{ calls int }

func (l *waitsLonger) Wait(context.Context, moneymovement.RateCall) error {
	if l.calls++; l.calls == 2 {
		time.Sleep(2 * time.Hour)
	}
	return nil
}

// The two hours count when the attempt is sent, and not when it joins the line.
func TestARepetitionThatWaitedTooLongIsNotSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		svc := script(lostAnswer, ok)
		_, err := send(t.Context(), newClient(t, host, through(svc), limitedBy(new(waitsLonger))), &bookThing,
			transport.Call{})
		var unknown *errors.OutcomeUnknown
		require.ErrorAs(t, err, &unknown)
		assert.False(t, unknown.Retryable())
		assert.Equal(t, errors.MaybeMoved, unknown.MovedByCall())
		assert.Len(t, svc.attempts(), 1)
	})
}

// A request that was refused and not carried out needs no key to be repeated.
func TestWhatWasTurnedAwayIsSentHoweverLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		svc := script(refuses(http.StatusTooManyRequests, errors.CodeRateLimited), ok)
		_, err := send(t.Context(), newClient(t, host, through(svc), limitedBy(new(waitsLonger))), &bookThing,
			transport.Call{})
		require.NoError(t, err)
		assert.Len(t, svc.attempts(), 2)
	})
}

// The advice on how to find out fits the operation and its key.
func TestUnknownOutcomeSaysHowToResolve(t *testing.T) {
	const keyed, read = "repeat the same request with the same idempotency key", "read the resource before you " +
		"repeat the request"
	const derived = "repeat the same request before 2000-01-01T01:59:00Z; after that, read the resource first"
	for _, tc := range []struct {
		op        *transport.Operation
		key, want string
		retryable bool
	}{
		{&bookThing, "invoice-42", keyed, true},
		{&bookThing, "", derived, true},
		{&sendThing, "invoice-42", keyed, true},
		{&sendThing, "", read, false},
		{&deleteThing, "invoice-42", keyed, true},
		{&deleteThing, "", "repeat the same request", true},
		{&spendThing, "invoice-42", read, false},
		{&spendThing, "", read, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			call := transport.Call{CallSettings: moneymovement.CallSettings{Key: moneymovement.Key(tc.key)}}
			_, err := send(t.Context(), newClient(t, host, through(script(lostAnswer))), tc.op, call)
			var unknown *errors.OutcomeUnknown
			require.ErrorAs(t, err, &unknown)
			assert.Equal(t, tc.want, unknown.Resolve, tc.op.ID)
			assert.Equal(t, tc.retryable, unknown.Retryable(), tc.op.ID)
			assert.Equal(t, tc.op.ID, unknown.Operation)
			assert.Equal(t, tc.key, unknown.IdempotencyKey)
		})
	}
}
