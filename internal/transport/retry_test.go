package transport_test

import (
	"context"
	"fmt"
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
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

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
		"answer lost":         {lostAnswer, repeatable},
		"answer broken off":   {brokenAnswer, repeatable},
		"200 no JSON":         {page(http.StatusOK), nobody},
		"200 unreadable":      {answers(http.StatusOK, `{"id":`), nobody},
		"302":                 {answers(http.StatusFound, "", "Location", "https://elsewhere.example/"), nobody},
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
					var answer moneymovement.Response
					_, err := send(t.Context(), newClient(t, host, through(svc)), op,
						transport.Kept(&answer))

					require.Error(t, err)
					want := 1
					if row.retried&kind != 0 {
						want = 4
					}
					assert.Len(t, svc.attempts(), want)
					assert.Equal(t, want, answer.Attempts)
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
				var answer moneymovement.Response
				call.CaptureRevealing = []*moneymovement.Response{&answer}
				svc := script(lostAnswer, brokenAnswer, refuses(http.StatusTooManyRequests, errors.CodeRateLimited), ok)
				_, err := send(t.Context(), newClient(t, host, through(svc)), &bookThing, call)

				require.NoError(t, err)
				require.Len(t, svc.attempts(), 4)
				for i, attempt := range svc.attempts() {
					assert.Equal(t, answer.IdempotencyKey, keys(svc.attempts())[i])
					assert.JSONEq(t, `{"name":"Bob"}`, attempt.body)
					assert.Equal(t, svc.attempts()[0].body, attempt.body)
					assert.Equal(t, svc.attempts()[0].header, attempt.header)
				}
				assert.Equal(t, string(call.Key), answer.IdempotencyKey)
			})
		})
	}
}

func TestMoreRetriesThanAnIntegerCanCountOneMoreOf(t *testing.T) {
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
func TestNoRoomForABackoffIsTheDeadline(t *testing.T) {
	busy := refuses(429, errors.CodeRateLimited, "Retry-After", "30")
	for name, tc := range map[string]struct {
		op    *transport.Operation
		steps []step
		kind  error
		ended bool
	}{
		"a lost write": {&bookThing, []step{lostAnswer}, &errors.OutcomeUnknown{}, true},
		"a lost write that is turned away": {&bookThing, []step{refuses(503, errors.CodeProviderUnavailable), busy},
			&errors.OutcomeUnknown{}, true},
		"no connection":       {&bookThing, []step{noConnection}, &errors.NotDelivered{}, true},
		"a lost read":         {&readThing, []step{lostAnswer}, &errors.NotDelivered{}, true},
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
