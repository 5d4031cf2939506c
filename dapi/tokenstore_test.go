package dapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
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
	"github.com/moneymovement/moneymovement-go/sandbox"
)

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

func TestSessionIsHandedOver(t *testing.T) {
	for name, store := range map[string]dapi.TokenStore{
		"in memory": &memoryStore{}, "in a file": dapi.FileTokenStore(t.TempDir() + "/session"),
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			require.NoError(t, read(t.Context(), w.integrator(stored(store)).Self()))
			require.NoError(t, read(t.Context(), w.integrator(stored(store)).Self()))
			assert.Equal(t, 1, w.sent("CreateToken"), "the second integrator found the session of the first")
			assert.Equal(t, 2, w.sent("ListChains"))
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
		assert.Equal(t, 1, w.sent("RefreshToken"))
		assert.Equal(t, 1, w.sent("CreateToken"))
		assert.Equal(t, 2, store.saves, "what was found is not written back")
	})
}

func TestSessionThatExpiredInTheStoreIsRefreshed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, store := newWorld(t), &memoryStore{}
		require.NoError(t, read(t.Context(), w.integrator(stored(store)).Self()))
		time.Sleep(2 * time.Hour)
		require.NoError(t, read(t.Context(), w.integrator(stored(store)).Self()))
		assert.Equal(t, 1, w.sent("RefreshToken"))
		assert.Equal(t, 1, w.sent("CreateToken"))
	})
}

func TestSessionThatTheServiceExpiredIsNotTakenAgain(t *testing.T) {
	w, store := newWorld(t), &memoryStore{}
	account := w.integrator(stored(store)).Self()
	require.NoError(t, read(t.Context(), account))
	w.host.Arm("GET", "/chains", sandbox.ExpireToken())
	require.NoError(t, read(t.Context(), account))
	assert.Equal(t, 1, w.sent("RefreshToken"), "the store still held the expired token")

	require.NoError(t, read(t.Context(), w.integrator(stored(store)).Self()))
	assert.Equal(t, 1, w.sent("CreateToken"), "and now holds the renewed one")
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
			assert.Contains(t, log.String(), "level=WARN msg=\"moneymovement token store does not")
			assert.Contains(t, log.String(), " error=")
			if name == "garbage" {
				assert.NotContains(t, log.String(), "disk", "what cannot be read could be a token")
				require.NoError(t, read(t.Context(), w.integrator(stored(store)).Self()))
				assert.Equal(t, 1, w.sent("CreateToken"), "the garbage was replaced")
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
		assert.Equal(t, 1, w.sent("RefreshToken"))
		assert.Equal(t, 1, w.sent("CreateToken"))
	})
}

// A store that holds nothing yet is nothing to warn about.
func TestEmptyStoreIsNoError(t *testing.T) {
	account, log := newWorld(t).logging(stored(&memoryStore{}))
	require.NoError(t, read(t.Context(), account))
	assert.NotContains(t, log.String(), "token store")
}

// The name of a credential stays, since stored sessions carry it.
func TestCredentialNames(t *testing.T) {
	developer := dapi.Developer{Email: "ops@example.com", Key: publicHalf("public")}
	assert.Equal(t, "927d8345168ac89e9639dc6fcbe0f6da", developer.Credential("https://host.example"))
	assert.Equal(t, developer.Credential("https://host.example"), developer.Credential("https://host.example/"))
	for _, other := range []string{
		developer.Credential("https://other.example"), dapi.Developer{Email: "dev@example.com", Key: developer.Key}.Credential("https://host.example"),
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
		assert.Equal(t, first.RefreshToken.Reveal(), second.RefreshToken.Reveal(), "a refresh leaves the refresh token as it is")
		assert.WithinDuration(t, time.Now().Add(60*time.Minute), second.ExpiresAt, 0)
	})
}

var secretive = dapi.Session{
	AccessToken: moneymovement.NewSecret("access-token-of-everything"), RefreshToken: moneymovement.NewSecret("refresh-token-of-everything"),
	ExpiresAt: time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC), RefreshExpiresAt: time.Date(2030, 3, 3, 3, 4, 5, 0, time.UTC),
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
		for _, value := range []any{secretive, &secretive, []dapi.Session{secretive}, struct{ S dapi.Session }{secretive}, struct{ S *dapi.Session }{&secretive}} {
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

func TestClientsPrintNoToken(t *testing.T) {
	w := newWorld(t)
	store := &memoryStore{}
	integrator := w.integrator(stored(store))
	account := integrator.Self()
	require.NoError(t, read(t.Context(), account))
	session, err := store.Load(t.Context())
	require.NoError(t, err)
	for _, verb := range []string{"%v", "%+v", "%#v"} {
		for _, value := range []any{integrator, *integrator, account, *account, *account.Payouts, *integrator.Clients} {
			text := fmt.Sprintf(verb, value)
			assert.NotContains(t, text, session.AccessToken.Reveal())
			assert.NotContains(t, text, session.RefreshToken.Reveal())
		}
	}
}

func TestTokensAreNotLogged(t *testing.T) {
	w, store := newWorld(t), &memoryStore{}
	var log bytes.Buffer
	developer := w.developer()
	developer.Store = store
	logger := slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	integrator, err := dapi.NewWhitelabel(baseURL, developer, w.options(moneymovement.WithLogger(logger))...)
	require.NoError(t, err)
	require.NoError(t, read(t.Context(), integrator.Self()))
	first, err := store.Load(t.Context())
	require.NoError(t, err)
	w.host.Arm("GET", "/chains", sandbox.ExpireToken())
	w.host.Arm("POST", "/auth/refresh", sandbox.Respond(http.StatusForbidden, "forbidden"))
	require.NoError(t, read(t.Context(), integrator.Self()))
	second, err := store.Load(t.Context())
	require.NoError(t, err)

	require.Contains(t, log.String(), "refresh refused, logging in")
	for _, secret := range []string{first.AccessToken.Reveal(), first.RefreshToken.Reveal(), second.AccessToken.Reveal(), second.RefreshToken.Reveal()} {
		require.NotEmpty(t, secret)
		assert.NotContains(t, log.String(), secret)
	}
}

func TestSessionRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		moment := rapid.Custom(func(t *rapid.T) time.Time {
			return time.Unix(rapid.Int64Range(0, 1<<33).Draw(t, "seconds"), rapid.Int64Range(0, 999_999_999).Draw(t, "nanoseconds")).UTC()
		})
		given := dapi.Session{
			AccessToken: moneymovement.NewSecret(rapid.String().Draw(t, "access")), RefreshToken: moneymovement.NewSecret(rapid.String().Draw(t, "refresh")),
			ExpiresAt: moment.Draw(t, "expires"), RefreshExpiresAt: moment.Draw(t, "refreshExpires"),
		}
		data, err := given.Export()
		require.NoError(t, err)
		got, err := dapi.ImportSession(data)
		require.NoError(t, err)
		require.True(t, given.AccessToken.Equal(got.AccessToken))
		require.True(t, given.RefreshToken.Equal(got.RefreshToken))
		require.Equal(t, given.ExpiresAt, got.ExpiresAt)
		require.Equal(t, given.RefreshExpiresAt, got.RefreshExpiresAt)
	})
}

func TestStoredSessionThatIsGarbage(t *testing.T) {
	whole, err := secretive.Export()
	require.NoError(t, err)
	for name, data := range map[string]string{
		"nothing": "", "text": "access-token-of-everything", "half": string(whole[:len(whole)/2]), "two": string(whole) + string(whole),
		"a list": "[]", "wrong kind": `{"accessToken":{"access-token-of-everything":1}}`, "wrong time": `{"accessToken":"access-token-of-everything","expiresAt":"soon"}`,
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
