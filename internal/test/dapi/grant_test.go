package dapi_test

import (
	"bytes"
	"log/slog"
	"math"
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

// A grant without a token that can be sent is no session: nothing is sent under it, and nothing is stored.
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

// A refresh whose token cannot be sent brings no session, and none is stored.
func TestRefreshWithoutAToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, store := newWorld(t), &memoryStore{}
		account := w.lapsed(stored(store))
		w.onSuccess("POST", "/auth/refresh", func(grant map[string]any) { grant["accessToken"] = "secret secret" })
		err := read(t.Context(), account)
		assert.Equal(t, "RefreshToken", as[*errors.UnexpectedResponse](t, err).Operation)
		assert.Equal(t, 1, store.saves)
	})
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
func TestGrantThatDoesNotSayHowLongItLives(t *testing.T) {
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
