package transport_test

import (
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// Many callers of a service that is down must not multiply its load.
func TestRetryBudgetBoundsAnOutage(t *testing.T) {
	for name, outage := range map[string]step{
		"no connection": noConnection,
		"lost":          lostAnswer,
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
		"broken off": {brokenAnswer, false},
		"redirect":   {answers(http.StatusFound, ""), false},
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
func TestFourSuccessesPayForNoRetry(t *testing.T) {
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
