package dapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/signing"
)

// The name of a credential stays, since stored sessions carry it.
func TestCredentialNames(t *testing.T) {
	developer := dapi.Developer{Email: "ops@example.com", Key: publicHalf("public")}
	assert.Equal(t, "927d8345168ac89e9639dc6fcbe0f6da", developer.Credential("https://host.example"))
	assert.Equal(t, developer.Credential("https://host.example"), developer.Credential("https://host.example/"))
	for _, other := range []string{
		developer.Credential("https://other.example"),
		dapi.Developer{Email: "dev@example.com", Key: developer.Key}.Credential("https://host.example"),
		dapi.Developer{Email: developer.Email, Key: publicHalf("other")}.Credential("https://host.example"),
	} {
		assert.NotEqual(t, developer.Credential("https://host.example"), other)
	}
	assert.Empty(t, dapi.Developer{Email: "ops@example.com"}.Credential("https://host.example"))
}

// publicHalf is a key that signs nothing.
type publicHalf string

func (k publicHalf) PublicKey() []byte { return []byte(k) }
func (publicHalf) Sign(context.Context, []byte) ([]byte, error) {
	return nil, errors.New("no private half")
}

var secretive = dapi.Session{
	AccessToken:      moneymovement.NewSecret("access-token-of-everything"),
	RefreshToken:     moneymovement.NewSecret("refresh-token-of-everything"),
	ExpiresAt:        time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC),
	RefreshExpiresAt: time.Date(2030, 3, 3, 3, 4, 5, 0, time.UTC),
}

// exported is a session with its tokens, to be compared.
func exported(t *testing.T, session dapi.Session) string {
	t.Helper()
	data, err := session.Export()
	require.NoError(t, err)
	return string(data)
}

func TestSessionPrintsNoToken(t *testing.T) {
	const redacted = "dapi.Session(redacted, access until 2030-01-02T03:04:05Z)"
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%x", "%T"} {
		for _, value := range []any{secretive, &secretive, []dapi.Session{secretive},
			struct{ S dapi.Session }{secretive}, struct{ S *dapi.Session }{&secretive}} {
			assert.NotContains(t, fmt.Sprintf(verb, value), "of-everything", verb)
		}
	}
	assert.Equal(t, redacted, fmt.Sprintf("%+v", secretive))
	assert.Equal(t, redacted, secretive.String())
	assert.Equal(t, "dapi.Session(none)", dapi.Session{}.String())

	text, err := json.Marshal(secretive)
	require.NoError(t, err)
	assert.JSONEq(t, `{"AccessToken":"[redacted]","RefreshToken":"[redacted]","ExpiresAt":"2030-01-02T03:04:05Z",
		"RefreshExpiresAt":"2030-03-03T03:04:05Z","Credential":""}`, string(text))

	for name, handler := range map[string]func(*bytes.Buffer) slog.Handler{
		"text": func(b *bytes.Buffer) slog.Handler { return slog.NewTextHandler(b, nil) },
		"json": func(b *bytes.Buffer) slog.Handler { return slog.NewJSONHandler(b, nil) },
	} {
		var log bytes.Buffer
		slog.New(handler(&log)).Info("got", "session", secretive, "pointer", &secretive)
		assert.NotContains(t, log.String(), "of-everything", name)
		assert.Contains(t, log.String(), "redacted", name)
	}
}

func TestSessionRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		moment := rapid.Custom(func(t *rapid.T) time.Time {
			return time.Unix(rapid.Int64Range(0, 1<<33).Draw(t, "seconds"), rapid.Int64Range(0, 999_999_999).
				Draw(t, "nanoseconds")).UTC()
		})
		original := dapi.Session{
			AccessToken:  moneymovement.NewSecret(rapid.String().Draw(t, "access")),
			RefreshToken: moneymovement.NewSecret(rapid.String().Draw(t, "refresh")),
			ExpiresAt:    moment.Draw(t, "expires"), RefreshExpiresAt: moment.Draw(t, "refreshExpires"),
		}
		data, err := original.Export()
		require.NoError(t, err)
		got, err := dapi.ImportSession(data)
		require.NoError(t, err)
		require.True(t, original.AccessToken.Equal(got.AccessToken))
		require.True(t, original.RefreshToken.Equal(got.RefreshToken))
		require.Equal(t, original.ExpiresAt, got.ExpiresAt)
		require.Equal(t, original.RefreshExpiresAt, got.RefreshExpiresAt)
	})
}

func TestInvalidStoredSessionIsRefused(t *testing.T) {
	whole, err := secretive.Export()
	require.NoError(t, err)
	for name, data := range map[string]string{
		"nothing": "", "text": "access-token-of-everything", "half": string(whole[:len(whole)/2]),
		"two":    string(whole) + string(whole),
		"a list": "[]", "wrong kind": `{"accessToken":{"access-token-of-everything":1}}`,
		"wrong time": `{"accessToken":"access-token-of-everything","expiresAt":"soon"}`,
	} {
		t.Run(name, func(t *testing.T) {
			session, err := dapi.ImportSession([]byte(data))
			var unreadable *errors.InvalidInput
			require.ErrorAs(t, err, &unreadable)
			assert.Equal(t, "ImportSession", unreadable.Operation)
			assert.Equal(t, "session", unreadable.Fields[0].Field)
			assert.Equal(t, "unreadable", unreadable.Fields[0].Code)
			assert.NotContains(t, err.Error(), "of-everything")
			assert.Zero(t, session)
		})
	}
}

func FuzzStoredSession(f *testing.F) {
	whole, err := secretive.Export()
	require.NoError(f, err)
	f.Add(whole)
	f.Add([]byte("{}"))
	f.Add([]byte(`{"expiresAt":"0000-01-01T00:00:00Z"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		session, err := dapi.ImportSession(data)
		if err != nil {
			require.False(t, len(data) > 40 && strings.Contains(err.Error(), string(data)))
			return
		}
		again, err := session.Export()
		require.NoError(t, err)
		back, err := dapi.ImportSession(again)
		require.NoError(t, err)
		require.Equal(t, session.AccessToken.Reveal(), back.AccessToken.Reveal())
		require.True(t, session.ExpiresAt.Equal(back.ExpiresAt))
	})
}

func TestFileTokenStoreKeepsASession(t *testing.T) {
	store := dapi.NewFileTokenStore(filepath.Join(t.TempDir(), "session"))
	none, err := store.Load(t.Context())
	require.NoError(t, err, "a file that is not there holds no session")
	assert.Equal(t, dapi.Session{}, none)

	require.NoError(t, store.Save(t.Context(), secretive))
	got, err := store.Load(t.Context())
	require.NoError(t, err)
	assert.Equal(t, exported(t, secretive), exported(t, got))
}

func TestFileTokenStoreReturnsTheErrorsOfItsFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "session")
	require.NoError(t, os.WriteFile(path, []byte("access-token-of-everything"), 0o600))
	store := dapi.NewFileTokenStore(path)
	none, err := store.Load(t.Context())
	require.ErrorContains(t, err, path+": it holds something else than a session: use another path")
	assert.Equal(t, dapi.Session{}, none)
	require.EqualError(t, store.Save(t.Context(), secretive), err.Error())

	var without context.Context
	var invalid *errors.InvalidInput
	_, err = store.Load(without)
	require.ErrorAs(t, err, &invalid)
	require.ErrorAs(t, store.Save(without, secretive), &invalid)
}

// sharedStore is a store for many processes. It cannot be reached while err is set.
type sharedStore struct {
	mu      sync.Mutex
	session dapi.Session
	owner   string
	until   time.Time
	taken   int // how often the lock went to another owner
	err     error
}

func (s *sharedStore) Load(context.Context) (dapi.Session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.session, s.err
}

func (s *sharedStore) Save(_ context.Context, session dapi.Session) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.session = session
	return s.err
}

func (s *sharedStore) Lock(_ context.Context, owner string, lasts time.Duration) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if s.err != nil || s.owner != owner && now.Before(s.until) {
		return false, s.err
	}
	if s.owner != owner {
		s.taken++
	}
	s.owner, s.until = owner, now.Add(lasts)
	return true, nil
}

func (s *sharedStore) Unlock(_ context.Context, owner string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.owner == owner {
		s.owner, s.until = "", time.Time{}
	}
	return s.err
}

var _ dapi.SessionLocker = (*sharedStore)(nil)

// slow delays each request of a login.
type slow struct {
	next http.RoundTripper
	by   time.Duration
}

func (s slow) RoundTrip(r *http.Request) (*http.Response, error) {
	time.Sleep(s.by)
	return s.next.RoundTrip(r)
}

// fleet returns the accounts of so many processes with one credential.
func fleet(
	t *testing.T, processes int, host http.RoundTripper, change func(*dapi.Developer),
) (accounts []*dapi.Account) {
	t.Helper()
	key, err := signing.Generate()
	require.NoError(t, err)
	for range processes {
		developer := dapi.Developer{Email: "ops@example.com", Key: key}
		change(&developer)
		integrator, err := dapi.NewIntegrator("https://service.example", developer,
			moneymovement.WithHTTPClient(&http.Client{Transport: host}), moneymovement.WithoutPacing())
		require.NoError(t, err)
		accounts = append(accounts, integrator.Self())
	}
	return accounts
}

func callAll(t *testing.T, accounts []*dapi.Account) (failures []error) {
	t.Helper()
	var mu sync.Mutex
	var all sync.WaitGroup
	for _, account := range accounts {
		all.Go(func() {
			if err := callOnce(t.Context(), account); err != nil {
				mu.Lock()
				defer mu.Unlock()
				failures = append(failures, err)
			}
		})
	}
	all.Wait()
	return failures
}

func callOnce(ctx context.Context, account *dapi.Account) error {
	_, err := account.Payouts.Get(ctx, "po_1")
	return err
}

func hostOfAFleet() *busyHost {
	host := newBusyHost(&slidingWindow{most: 120_000}, &slidingWindow{most: 600_000})
	host.payouts["po_1"] = &busyPayout{id: "po_1", contact: "ct_bob", amount: "1"}
	return host
}

// Sixteen processes that start together make one login, and one refresh each time the token nears its end.
func TestProcessesOfAFleetLogInOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host, store := hostOfAFleet(), new(sharedStore)
		accounts := fleet(t, 16, host, func(d *dapi.Developer) { d.Store = store })
		require.Empty(t, callAll(t, accounts))
		assert.Equal(t, 1, host.counts().logins)
		began := time.Now()
		for time.Since(began) < 5*time.Hour {
			require.Empty(t, callAll(t, accounts))
			time.Sleep(7 * time.Second)
		}
		assert.Equal(t, 1, host.counts().logins)
		assert.Equal(t, 5, host.counts().refreshes)
		assert.Zero(t, host.counts().expired)
	})
}

// A login that takes longer than the lock extends it.
func TestSlowLoginKeepsItsLock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host, store := hostOfAFleet(), new(sharedStore)
		accounts := fleet(t, 8, slow{host, 25 * time.Second}, func(d *dapi.Developer) { d.Store = store })
		require.Empty(t, callAll(t, accounts))
		assert.Equal(t, 1, host.counts().logins)
	})
}

// If a process dies with the lock, the others wait until the lock expires.
func TestLockOfADeadOwnerExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host, store := hostOfAFleet(), new(sharedStore)
		locked, err := store.Lock(t.Context(), "died", 15*time.Second)
		require.NoError(t, err)
		require.True(t, locked)
		began := time.Now()
		require.Empty(t, callAll(t, fleet(t, 8, host, func(d *dapi.Developer) { d.Store = store })))
		assert.Equal(t, 1, host.counts().logins)
		assert.GreaterOrEqual(t, time.Since(began), 15*time.Second)
		assert.Less(t, time.Since(began), 17*time.Second)
	})
}

// While the store cannot be reached, each process logs in by itself, or none does, as the developer says.
func TestUnavailableTokenStore(t *testing.T) {
	down := errors.New("the store is down")
	for name, tc := range map[string]struct {
		required bool
		logins   int
	}{
		"each by itself": {false, 4},
		"required":       {true, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				host, store := hostOfAFleet(), &sharedStore{err: down}
				accounts := fleet(t, 4, host, func(d *dapi.Developer) { d.Store, d.StoreRequired = store, tc.required })
				failures := callAll(t, accounts)
				assert.Equal(t, tc.logins, host.counts().logins)
				if !tc.required {
					assert.Empty(t, failures)
					return
				}
				require.Len(t, failures, 4)
				var notSent *errors.NotDelivered
				require.ErrorAs(t, failures[0], &notSent)
				var storeAway *dapi.TokenStoreUnavailable
				require.ErrorAs(t, failures[0], &storeAway)
				require.ErrorIs(t, failures[0], down)
				assert.True(t, notSent.Retryable())

				store.mu.Lock()
				store.err = nil
				store.mu.Unlock()
				assert.Empty(t, callAll(t, accounts), "it is back")
				assert.Equal(t, 1, host.counts().logins)
			})
		})
	}
}

// stuckStore cannot end its lock.
type stuckStore struct{ *sharedStore }

func (stuckStore) Unlock(context.Context, string) error { return errors.New("no connection") }

func TestLockThatCannotBeReleased(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		key, err := signing.Generate()
		require.NoError(t, err)
		integrator, err := dapi.NewIntegrator("https://service.example",
			dapi.Developer{Email: "ops@example.com", Key: key, Store: stuckStore{new(sharedStore)}},
			moneymovement.WithHTTPClient(&http.Client{Transport: hostOfAFleet()}),
			moneymovement.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
		require.NoError(t, err)
		require.Empty(t, callAll(t, []*dapi.Account{integrator.Self()}), "the login is good")
		assert.Contains(t, log.String(), "could not end the lock of the session")
		assert.Contains(t, log.String(), `error="no connection"`)
	})
}

// A store without a lock can be required as well.
func TestRequiredStoreWithoutALock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host, store := hostOfAFleet(), &sharedStore{err: errors.New("the store is down")}
		accounts := fleet(t, 1, host, func(d *dapi.Developer) {
			d.Store, d.StoreRequired = struct{ dapi.TokenStore }{store}, true
		})
		var storeAway *dapi.TokenStoreUnavailable
		require.ErrorAs(t, callOnce(t.Context(), accounts[0]), &storeAway)
		assert.Zero(t, host.counts().logins)
	})
}

// A token that the service refuses is renewed once for all processes.
func TestRefusedTokenIsRenewedOnceForAllProcesses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host, store := hostOfAFleet(), new(sharedStore)
		accounts := fleet(t, 8, host, func(d *dapi.Developer) { d.Store = store })
		require.Empty(t, callAll(t, accounts))
		host.mu.Lock()
		clear(host.tokens)
		host.mu.Unlock()
		require.Empty(t, callAll(t, accounts))
		assert.Equal(t, 1, host.counts().logins)
		assert.Equal(t, 1, host.counts().refreshes)
	})
}

// A token that lives for less than the usual time ahead is renewed in the last quarter of its life, and not by each
// call.
func TestShortLivedTokensAreNotRenewedByEachCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host := newBusyHost(&slidingWindow{most: 120}, &slidingWindow{most: 600})
		host.tokenLives = 40 * time.Second
		host.payouts["po_1"] = &busyPayout{id: "po_1", contact: "ct_bob", amount: "1"}
		account := host.integrator(t).Self()
		began := time.Now()
		for time.Since(began) < 10*time.Minute {
			_, err := account.Payouts.Get(t.Context(), "po_1")
			require.NoError(t, err)
			time.Sleep(time.Second)
		}
		assert.LessOrEqual(t, host.counts().refreshes, 20)
		assert.GreaterOrEqual(t, host.counts().refreshes, 15)
		assert.Zero(t, host.counts().expired)
	})
}

// The window is full and a thousand writes wait, when the token expires: its renewal goes first, and nothing is sent
// without a token that works.
func TestRefreshHasPriority(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host := newBusyHost(&slidingWindow{most: 120}, &slidingWindow{most: 600})
		host.tokenLives = 2*time.Minute + 10*time.Second
		account := host.integrator(t).Self()
		var all sync.WaitGroup
		for i := range 1000 {
			all.Go(func() {
				_, err := account.Payouts.Book(t.Context(), payoutOf(i),
					moneymovement.IdempotencyKey(moneymovement.Key(fmt.Sprint(i))))
				assert.NoError(t, err)
			})
		}
		all.Wait()
		assert.Positive(t, host.counts().refreshes)
		assert.Zero(t, host.counts().expired)
		assert.Zero(t, host.counts().limited)
		assert.Equal(t, 1, host.counts().logins)
	})
}

// A service that takes the old token back when it grants a new one refuses the calls that are on their way. They are
// sent again, and payments whose confirm then comes too late are booked anew.
func TestPaymentsSurviveRevokedTokens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host := newBusyHost(&slidingWindow{most: 120}, &slidingWindow{most: 600})
		host.tokenLives, host.takesBack = 5*time.Minute, true
		account := host.integrator(t).Self()
		var all sync.WaitGroup
		for i := range 1000 {
			all.Go(func() { payOne(t, account, i) })
		}
		all.Wait()
		assert.Equal(t, 1000, host.counts().paid)
		assert.Positive(t, host.counts().expired, "the test has met what it is about")
		assert.Zero(t, host.counts().limited)
	})
}
