package dapi_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/test/worlds"
	"github.com/moneymovement/moneymovement-go/sandbox"
	"github.com/moneymovement/moneymovement-go/signing"
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
func TestFailedRefreshDoesNotLogIn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		account := w.lapsed()
		w.Host.Arm("POST", "/auth/refresh", sandbox.Respond(http.StatusInternalServerError, "internal_error").
			Times(100))
		require.Error(t, read(t.Context(), account))
		assert.Equal(t, 1, w.Sent("CreateToken"))
	})
}

func TestRateLimitedRefreshDoesNotLogIn(t *testing.T) {
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
func TestExpiredRefreshTokenIsNotSent(t *testing.T) {
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
		w.Wire.OnResponse(func(r *http.Request, _ *http.Response) {
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
		w.Wire.OnResponse(nil)

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

func TestCanceledCallerDoesNotEndTheSharedLogin(t *testing.T) {
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
		w.Wire.Handler = http.HandlerFunc(func(response http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet && underway.Add(1) <= 10 {
				time.Sleep(time.Second) // on the way, the token expires
			}
			next.ServeHTTP(response, r)
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

// A grant without a token that can be sent is not a session: nothing is sent under it, and nothing is stored.
func TestGrantWithoutAToken(t *testing.T) {
	for name, change := range map[string]func(grant map[string]any){
		"none":          func(grant map[string]any) { clear(grant) },
		"a line break":  func(grant map[string]any) { grant["accessToken"] = "secret\nX-Other: 1" },
		"not ASCII":     func(grant map[string]any) { grant["accessToken"] = "secret\u00a0" },
		"spaces within": func(grant map[string]any) { grant["accessToken"] = "secret secret" },
	} {
		t.Run(name, func(t *testing.T) {
			w, store := newWorld(t), &memoryStore{}
			w.onSuccess("POST", "/auth/token", change)
			err := read(t.Context(), w.integrator(stored(store)).Self())
			unexpected := as[*errors.UnexpectedResponse](t, err)
			assert.Equal(t, "CreateToken", unexpected.Operation)
			assert.Equal(t, errors.NotMoved, unexpected.MovedByCall(), "a login moves no money")
			assert.NotContains(t, err.Error(), "secret")
			assert.Zero(t, w.Sent("ListChains"))
			assert.Zero(t, store.saves)
		})
	}
}

// A refresh may replace the refresh token, and a grant may live as shortly as a second.
func TestRefreshThatReplacesTheRefreshToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, store := newWorld(t), &memoryStore{}
		account := w.lapsed(stored(store))
		w.onSuccess("POST", "/auth/refresh", func(grant map[string]any) {
			grant["refreshToken"], grant["expiresIn"], grant["refreshExpiresIn"] = "another", 1, 2
		})
		require.NoError(t, read(t.Context(), account))
		kept, err := store.Load(t.Context())
		require.NoError(t, err)
		assert.Equal(t, "another", kept.RefreshToken.Reveal())
		assert.True(t, kept.ExpiresAt.Equal(time.Now().Add(time.Second)), kept.ExpiresAt)
		assert.True(t, kept.RefreshExpiresAt.Equal(time.Now().Add(2*time.Second)), kept.RefreshExpiresAt)
	})
}

// A grant that does not say how long it lives has the stated lifetimes.
//
// Rule: session.access-lifetime, session.refresh-lifetime
func TestGrantWithoutALifetime(t *testing.T) {
	for name, change := range map[string]func(grant map[string]any){
		"nothing": func(grant map[string]any) { delete(grant, "expiresIn"); delete(grant, "refreshExpiresIn") },
		"too much to reckon with": func(grant map[string]any) {
			grant["expiresIn"], grant["refreshExpiresIn"] = math.MaxInt32, math.MaxInt32
		},
		"nothing sensible": func(grant map[string]any) {
			grant["expiresIn"], grant["refreshExpiresIn"] = -1, math.MaxInt
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, store := newWorld(t), &memoryStore{}
				w.onSuccess("POST", "/auth/token", change)
				account := w.integrator(stored(store)).Self()
				for range 5 {
					require.NoError(t, read(t.Context(), account))
				}
				assert.Equal(t, 1, w.Sent("CreateToken"), "one session serves all calls")
				assert.Zero(t, w.Sent("RefreshToken"), "as it is")
				session, err := store.Load(t.Context())
				require.NoError(t, err)
				assert.WithinDuration(t, time.Now().Add(time.Hour), session.ExpiresAt, 0)
				assert.WithinDuration(t, time.Now().Add(60*24*time.Hour), session.RefreshExpiresAt, 0)
			})
		})
	}
}

func TestRefreshThatLeavesTheRefreshTokenOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.onSuccess("POST", "/auth/refresh", func(grant map[string]any) { delete(grant, "refreshToken") })
		account := w.integrator().Self()
		for range 3 {
			require.NoError(t, read(t.Context(), account))
			time.Sleep(2 * time.Hour)
		}
		assert.Equal(t, 2, w.Sent("RefreshToken"))
		assert.Equal(t, 1, w.Sent("CreateToken"))
	})
}

// A stored token that a header cannot carry would fail every call until it expires.
func TestStoredTokenThatCannotBeSent(t *testing.T) {
	w, store := worlds.Serve(t), &memoryStore{}
	var log bytes.Buffer
	use := func() {
		developer := w.Developer()
		developer.Store = store
		platform := w.Integrator(developer, moneymovement.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
		require.NoError(t, read(t.Context(), platform.Self()))
	}
	use()
	session, err := store.Load(t.Context())
	require.NoError(t, err)
	session.AccessToken, session.RefreshToken = moneymovement.NewSecret("torn\x00"), moneymovement.NewSecret("torn")
	session.ExpiresAt = session.ExpiresAt.Add(time.Hour)
	require.NoError(t, store.Save(t.Context(), session))
	use()
	assert.Contains(t, log.String(), "could not load the session from the token store")
	assert.Contains(t, log.String(), "a header cannot carry")
	assert.NotContains(t, log.String(), "torn")
}

// Two credentials that share a store by mistake do not act for one another: a payment of one would leave the account of
// the other, or a token would show itself to another service.
func TestStoreOfAnotherCredential(t *testing.T) {
	w, store := newWorld(t), &memoryStore{}
	key, err := signing.Generate()
	require.NoError(t, err)
	_, err = w.Host.RegisterKey(sandbox.KeyRegistration{Email: "other@example.com", PublicKey: key.PublicKey()})
	require.NoError(t, err)
	self := w.integrator(stored(store)).Self()
	w.Credit(self.Sandbox, "10", dapi.USDC)

	other := w.integrator(stored(store), func(d *dapi.Developer) { d.Email, d.Key = "other@example.com", key }).Self()
	page, err := other.Transactions.List(t.Context(), dapi.ListTransactionsParams{})
	require.NoError(t, err)
	assert.Empty(t, page.Items, "it sees its own ledger")
	assert.Equal(t, 2, w.Sent("CreateToken"))

	developer := w.Developer()
	developer.Store = store
	elsewhere, err := dapi.NewIntegrator("http://127.0.0.2", developer, w.Options()...)
	require.NoError(t, err)
	require.NoError(t, read(t.Context(), elsewhere.Self()))
	assert.Equal(t, 3, w.Sent("CreateToken"), "another service gets no token of this one")
}

// What a store keeps without a credential may be anybody's.
func TestStoreThatKeepsNoCredential(t *testing.T) {
	for name, change := range map[string]func(*dapi.Session){
		"both tokens":   func(*dapi.Session) {},
		"refresh token": func(s *dapi.Session) { s.AccessToken = moneymovement.Secret{} },
	} {
		t.Run(name, func(t *testing.T) {
			w, store := newWorld(t), &memoryStore{}
			require.NoError(t, read(t.Context(), w.integrator(stored(store)).Self()))
			session, err := store.Load(t.Context())
			require.NoError(t, err)
			session.Credential = ""
			change(&session)
			require.NoError(t, store.Save(t.Context(), session))

			account, log := w.logging(stored(store))
			require.NoError(t, read(t.Context(), account))
			assert.Equal(t, 2, w.Sent("CreateToken"))
			assert.Contains(t, log.String(), "the stored session has no credential")
		})
	}
}

// memoryStore keeps a session as another process would see it: in bytes.
type memoryStore struct {
	mu            sync.Mutex
	kept          []byte
	loads, saves  int
	loadErr, sErr error
}

func (m *memoryStore) Load(context.Context) (session dapi.Session, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.loads++
	if m.kept == nil || m.loadErr != nil {
		return session, m.loadErr
	}
	return dapi.ImportSession(m.kept)
}

func (m *memoryStore) Save(_ context.Context, session dapi.Session) (err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.saves++
	if m.sErr != nil {
		return m.sErr
	}
	m.kept, err = session.Export()
	return err
}

func stored(store dapi.TokenStore) func(*dapi.Developer) {
	return func(d *dapi.Developer) { d.Store = store }
}

func TestSessionIsSharedThroughTheStore(t *testing.T) {
	for name, store := range map[string]dapi.TokenStore{
		"in memory": &memoryStore{}, "in a file": dapi.NewFileTokenStore(t.TempDir() + "/session"),
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			require.NoError(t, read(t.Context(), w.integrator(stored(store)).Self()))
			require.NoError(t, read(t.Context(), w.integrator(stored(store)).Self()))
			assert.Equal(t, 1, w.Sent("CreateToken"), "the second integrator found the session of the first")
			assert.Equal(t, 2, w.Sent("ListChains"))
		})
	}
}

func TestSessionThatAnotherProcessRenewedIsTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, store := newWorld(t), &memoryStore{}
		first, second := w.integrator(stored(store)).Self(), w.integrator(stored(store)).Self()
		require.NoError(t, read(t.Context(), first))
		require.NoError(t, read(t.Context(), second))
		time.Sleep(2 * time.Hour)
		require.NoError(t, read(t.Context(), first))
		require.NoError(t, read(t.Context(), second))
		assert.Equal(t, 1, w.Sent("RefreshToken"))
		assert.Equal(t, 1, w.Sent("CreateToken"))
		assert.Equal(t, 2, store.saves, "what was found is not written back")
	})
}

func TestSessionThatExpiredInTheStoreIsRefreshed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, store := newWorld(t), &memoryStore{}
		require.NoError(t, read(t.Context(), w.integrator(stored(store)).Self()))
		time.Sleep(2 * time.Hour)
		require.NoError(t, read(t.Context(), w.integrator(stored(store)).Self()))
		assert.Equal(t, 1, w.Sent("RefreshToken"))
		assert.Equal(t, 1, w.Sent("CreateToken"))
	})
}

func TestSessionThatTheServiceExpiredIsNotTakenAgain(t *testing.T) {
	w, store := newWorld(t), &memoryStore{}
	account := w.integrator(stored(store)).Self()
	require.NoError(t, read(t.Context(), account))
	w.Host.Arm("GET", "/chains", sandbox.ExpireToken())
	require.NoError(t, read(t.Context(), account))
	assert.Equal(t, 1, w.Sent("RefreshToken"), "the store still held the expired token")

	require.NoError(t, read(t.Context(), w.integrator(stored(store)).Self()))
	assert.Equal(t, 1, w.Sent("CreateToken"), "and now holds the renewed one")
}

func TestStoreErrorsFailNoCall(t *testing.T) {
	for name, store := range map[string]*memoryStore{
		"load":    {loadErr: errors.New("the disk is on fire")},
		"save":    {sErr: errors.New("the disk is on fire")},
		"garbage": {kept: []byte("the disk is on fire")},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			account, log := w.logging(stored(store))
			require.NoError(t, read(t.Context(), account))
			assert.Contains(t, log.String(), "level=WARN msg=\"moneymovement could not")
			assert.Contains(t, log.String(), " error=")
			if name == "garbage" {
				assert.NotContains(t, log.String(), "disk", "what cannot be read could be a token")
				require.NoError(t, read(t.Context(), w.integrator(stored(store)).Self()))
				assert.Equal(t, 1, w.Sent("CreateToken"), "the garbage was replaced")
			}
		})
	}
}

// A session that another process left is renewed ahead of its end as well.
func TestSessionFromTheStoreIsRenewedAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, store := newWorld(t), &memoryStore{}
		require.NoError(t, read(t.Context(), w.integrator(stored(store)).Self()))
		time.Sleep(59 * time.Minute) // of the hour
		account := w.integrator(stored(store)).Self()
		for range 2 { // the first takes what is stored
			require.NoError(t, read(t.Context(), account))
			synctest.Wait()
		}
		assert.Equal(t, 1, w.Sent("RefreshToken"))
		assert.Equal(t, 1, w.Sent("CreateToken"))
	})
}

// An empty store is usual, and no reason for a warning.
func TestEmptyStoreIsNoError(t *testing.T) {
	account, log := newWorld(t).logging(stored(&memoryStore{}))
	require.NoError(t, read(t.Context(), account))
	assert.NotContains(t, log.String(), "token store")
}

func TestSessionsAreStoredByLoginAndRefresh(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, store := newWorld(t), &memoryStore{}
		account := w.integrator(stored(store)).Self()
		started := time.Now()
		require.NoError(t, read(t.Context(), account))
		first, err := store.Load(t.Context())
		require.NoError(t, err)
		assert.WithinDuration(t, started.Add(60*time.Minute), first.ExpiresAt, 0)
		assert.WithinDuration(t, started.Add(60*24*time.Hour), first.RefreshExpiresAt, 0)

		time.Sleep(2 * time.Hour)
		require.NoError(t, read(t.Context(), account))
		second, err := store.Load(t.Context())
		require.NoError(t, err)
		assert.NotEqual(t, first.AccessToken.Reveal(), second.AccessToken.Reveal())
		assert.Equal(t, first.RefreshToken.Reveal(), second.RefreshToken.Reveal(),
			"a refresh leaves the refresh token as it is")
		assert.WithinDuration(t, time.Now().Add(60*time.Minute), second.ExpiresAt, 0)
	})
}

func TestTokensAreNotLogged(t *testing.T) {
	w, store := newWorld(t), &memoryStore{}
	var log bytes.Buffer
	developer := w.Developer()
	developer.Store = store
	logger := slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	integrator := w.Integrator(developer, moneymovement.WithLogger(logger))
	require.NoError(t, read(t.Context(), integrator.Self()))
	first, err := store.Load(t.Context())
	require.NoError(t, err)
	w.Host.Arm("GET", "/chains", sandbox.ExpireToken())
	w.Host.Arm("POST", "/auth/refresh", sandbox.Respond(http.StatusForbidden, "forbidden"))
	require.NoError(t, read(t.Context(), integrator.Self()))
	second, err := store.Load(t.Context())
	require.NoError(t, err)

	require.Contains(t, log.String(), "logs in again: the refresh token was refused")
	for _, secret := range []string{first.AccessToken.Reveal(), first.RefreshToken.Reveal(),
		second.AccessToken.Reveal(), second.RefreshToken.Reveal()} {
		require.NotEmpty(t, secret)
		assert.NotContains(t, log.String(), secret)
	}
}
