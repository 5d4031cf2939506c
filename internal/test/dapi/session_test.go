package dapi_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

// read makes a call that needs a session.
func read(ctx context.Context, account *dapi.Account) error {
	_, err := account.Chains.List(ctx, dapi.ListChainsParams{})
	return err
}

func TestNothingIsSentBeforeTheFirstCall(t *testing.T) {
	w := newWorld(t)
	w.integrator().Self()
	assert.Empty(t, w.Host.Requests())
}

// Rule: login.two-steps
func TestAnyNumberOfGoroutinesShareOneLogin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.Host.Arm("POST", "/auth/challenge", sandbox.Delay(time.Second))
		account := w.integrator().Self()
		var calls sync.WaitGroup
		for range 200 {
			calls.Go(func() { assert.NoError(t, read(t.Context(), account)) })
		}
		calls.Wait()
		assert.Equal(t, 1, w.Sent("CreateChallenge"))
		assert.Equal(t, 1, w.Sent("CreateToken"))
		assert.Equal(t, 200, w.Sent("ListChains"))
		assert.Equal(t, 1, w.Key.Logins())
	})
}

func TestAnyNumberOfGoroutinesShareOneRefresh(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		account := w.lapsed()
		w.Host.Arm("POST", "/auth/refresh", sandbox.Delay(time.Second))
		var calls sync.WaitGroup
		for range 200 {
			calls.Go(func() { assert.NoError(t, read(t.Context(), account)) })
		}
		calls.Wait()
		assert.Equal(t, 1, w.Sent("RefreshToken"))
		assert.Equal(t, 1, w.Sent("CreateToken"))
	})
}

// Rule: session.access-lifetime
func TestTokenIsRenewedShortlyBeforeItExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		account := w.integrator().Self()
		require.NoError(t, read(t.Context(), account))

		time.Sleep(time.Hour - 90*time.Second - 1)
		require.NoError(t, read(t.Context(), account))
		synctest.Wait()
		assert.Zero(t, w.Sent("RefreshToken"), "there is time")

		time.Sleep(time.Nanosecond)
		w.Host.Arm("POST", "/auth/refresh", sandbox.Delay(10*time.Second))
		asked := time.Now()
		require.NoError(t, read(t.Context(), account))
		assert.Zero(t, time.Since(asked), "nobody waits for a renewal while the token works")

		time.Sleep(time.Minute)
		require.NoError(t, read(t.Context(), account))
		assert.Equal(t, 1, w.Sent("RefreshToken"))
		assert.Equal(t, 1, w.Sent("CreateToken"))
		for _, request := range w.Host.Requests() {
			assert.Empty(t, request.Slug, "%s was refused", request.Operation)
		}
	})
}

// Rule: session.refresh-once
func TestTokenExpiredIsRefreshedAndReplayedOnce(t *testing.T) {
	w := newWorld(t)
	account := w.integrator().Self()
	require.NoError(t, read(t.Context(), account))
	expired := w.Host.Arm("POST", "/contacts", sandbox.ExpireToken())

	contact, err := account.Contacts.Create(t.Context(), dapi.ContactCreate{Name: "Bob", Account: wallet()})
	require.NoError(t, err)
	assert.NotEmpty(t, contact.ID)
	assert.Equal(t, 1, expired.Consumed())
	assert.Equal(t, 1, w.Sent("RefreshToken"))
	assert.Equal(t, 1, w.Sent("CreateToken"))
	sent := w.Requests("CreateContact")
	require.Len(t, sent, 2)
	assert.Equal(t, "token_expired", sent[0].Slug)
	assert.Equal(t, sent[0].IdempotencyKey, sent[1].IdempotencyKey, "the replay is the same request")
	assert.Equal(t, http.StatusCreated, sent[1].Status)
}

// Rule: session.refresh-once
func TestTokenThatExpiresAgainAtOnceIsReturned(t *testing.T) {
	w := newWorld(t)
	account := w.integrator().Self()
	w.Host.Arm("GET", "/chains", sandbox.ExpireToken().Times(5))
	_, expired := errors.AsType[*errors.TokenExpired](read(t.Context(), account))
	assert.True(t, expired)
	assert.Equal(t, 2, w.Sent("ListChains"), "one replay, and no more")
}

// Rule: session.recheck-on-refresh
func TestRefusedRefreshLogsInOnce(t *testing.T) {
	for _, status := range []int{http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden} {
		t.Run(http.StatusText(status), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				account, log := w.logging()
				require.NoError(t, read(t.Context(), account))
				time.Sleep(2 * time.Hour)
				w.Host.Arm("POST", "/auth/refresh", sandbox.Respond(status, "unauthenticated"))
				require.NoError(t, read(t.Context(), account))
				assert.Contains(t, log.String(), " refusal.operation=RefreshToken")
				assert.Equal(t, 1, w.Sent("RefreshToken"))
				assert.Equal(t, 2, w.Sent("CreateToken"))
			})
		})
	}
}

// A service that fails to refresh has not judged the token: a login would fail alike.
func TestRefreshThatFailsIsNoReasonToLogIn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		account := w.lapsed()
		w.Host.Arm("POST", "/auth/refresh", sandbox.Respond(http.StatusInternalServerError, "internal_error").
			Times(100))
		require.Error(t, read(t.Context(), account))
		assert.Equal(t, 1, w.Sent("CreateToken"))
	})
}

func TestRefreshThatIsToldToWaitIsNoReasonToLogIn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		account := w.lapsed()
		w.Host.Arm("POST", "/auth/refresh", sandbox.Respond(http.StatusTooManyRequests, "rate_limited").
			WithHeader("Retry-After", "3600"))
		limited := as[*errors.RateLimited](t, read(t.Context(), account))
		assert.Equal(t, time.Hour, limited.RetryAfter)
		assert.Equal(t, 1, w.Sent("RefreshToken"))
		assert.Equal(t, 1, w.Sent("CreateToken"), "a login would only add to it")
	})
}

// Rule: session.refresh-lifetime
func TestRefreshTokenThatIsOverIsNotSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		account := w.integrator().Self()
		require.NoError(t, read(t.Context(), account))
		time.Sleep(61 * 24 * time.Hour)
		require.NoError(t, read(t.Context(), account))
		assert.Zero(t, w.Sent("RefreshToken"))
		assert.Equal(t, 2, w.Sent("CreateToken"))
	})
}

func TestRefreshThatFailsLeavesTheTokenInUse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		account := w.integrator().Self()
		require.NoError(t, read(t.Context(), account))
		down := w.Host.Arm("POST", "/auth/refresh",
			sandbox.Respond(http.StatusServiceUnavailable, "database_unavailable").Times(1000))

		var refreshed time.Time
		w.Wire.OnAnswer(func(r *http.Request, _ *http.Response) {
			if pause := time.Since(refreshed); strings.HasSuffix(r.URL.Path, "/auth/refresh") {
				if !refreshed.IsZero() && pause > 5*time.Second { // which no two attempts of one renewal are apart
					assert.InDelta(t, 10.5, pause.Seconds(), 0.5)
				}
				refreshed = time.Now()
			}
		})
		time.Sleep(59*time.Minute + 5*time.Second)
		for range 50 { // one a second, till shortly before the token expires
			require.NoError(t, read(t.Context(), account), "the token still works")
			time.Sleep(time.Second)
		}
		assert.LessOrEqual(t, down.Consumed(), 5*4, "one renewal, of four attempts, in ten seconds")
		assert.GreaterOrEqual(t, down.Consumed(), 2*4, "and it is tried again")
		w.Wire.OnAnswer(nil)

		time.Sleep(time.Minute)
		err := read(t.Context(), account)
		unavailable, ok := errors.AsType[*errors.DatabaseUnavailable](err)
		require.True(t, ok, "%v", err)
		assert.Equal(t, "RefreshToken", unavailable.Operation)
		assert.Equal(t, 1, w.Sent("CreateToken"), "a login would meet the same")

		w.Host.Reset() // which also forgets the session: the service is back, and the refresh token is not
		require.NoError(t, read(t.Context(), account))
	})
}

func TestCallerWhoStopsWaitingHarmsNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.Host.Arm("POST", "/auth/challenge", sandbox.Delay(5*time.Second))
		account := w.integrator().Self()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()

		var calls sync.WaitGroup
		calls.Go(func() {
			started := time.Now()
			err := read(ctx, account)
			assert.Equal(t, time.Second, time.Since(started))
			assert.Zero(t, w.Sent("ListChains"), "nothing is sent without a token")
			assert.ErrorIs(t, err, context.DeadlineExceeded)
			_, undelivered := errors.AsType[*errors.NotDelivered](err)
			assert.True(t, undelivered, "%v", err)
		})
		synctest.Wait() // the first caller started the login
		for range 5 {
			calls.Go(func() { assert.NoError(t, read(t.Context(), account)) })
		}
		calls.Wait()
		assert.Equal(t, 1, w.Sent("CreateToken"))
	})
}

// Rule: session.service-account, rate.per-credential
func TestOneIntegratorServesManyClientsAtOnce(t *testing.T) {
	w := newWorld(t, sandbox.WithSettings(func(s *sandbox.Settings) { s.ClientReadyAfter = 0 }))
	integrator := w.integrator()
	var calls sync.WaitGroup
	var deposits atomic.Int32
	for i := range 100 {
		calls.Go(func() {
			client, err := integrator.Clients.Create(t.Context(),
				dapi.ClientCreate{Email: fmt.Sprintf("client%d@example.com", i)})
			if !assert.NoError(t, err) {
				return
			}
			account := integrator.For(client.ID)
			credit := amount("1").Add(amount("0.01").Mul(amount(fmt.Sprint(i))))
			if _, err = account.Sandbox.Deposit(t.Context(),
				dapi.DepositCreate{Amount: credit, Currency: dapi.USDC}); !assert.NoError(t, err) {
				return
			}
			deposits.Add(1)
			page, err := account.Transactions.List(t.Context(), dapi.ListTransactionsParams{})
			if assert.NoError(t, err) && assert.Len(t, page.Items, 1, "each client sees its own ledger") {
				assert.True(t, credit.Equal(page.Items[0].Amount))
			}
		})
	}
	calls.Wait()
	assert.EqualValues(t, 100, deposits.Load())
	assert.Equal(t, 1, w.Sent("CreateToken"))
}

func TestCallsThatWereUnderwayTakeTheRenewedToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		account := w.integrator().Self()
		require.NoError(t, read(t.Context(), account))
		time.Sleep(60*time.Minute - 500*time.Millisecond)
		// so that all calls still take the old token
		w.Host.Arm("POST", "/auth/refresh", sandbox.Delay(100*time.Millisecond))

		var underway atomic.Int32
		next := w.Wire.Handler
		w.Wire.Handler = http.HandlerFunc(func(answer http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet && underway.Add(1) <= 10 {
				time.Sleep(time.Second) // on the way, the token expires
			}
			next.ServeHTTP(answer, r)
		})
		var calls sync.WaitGroup
		for range 10 {
			calls.Go(func() { assert.NoError(t, read(t.Context(), account)) })
		}
		calls.Wait()
		assert.Equal(t, 1+10+10, w.Sent("ListChains"))
		assert.Equal(t, 1, w.Sent("RefreshToken"), "the token was renewed already when the calls came back refused")
	})
}
