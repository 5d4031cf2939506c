package dapi_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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

// A store that holds nothing yet is nothing to warn about.
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
