package session_test

import (
	"sync"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/clock"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/session"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/store"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/store/storetest"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
)

var owner = session.AppAccount{ID: "acc_1", Email: "ops@example.com"}

func amount(text string) *decimal.Decimal {
	value := decimal.RequireFromString(text)
	return &value
}

func TestAppKeyAuthenticatesUntilDeleted(t *testing.T) {
	keys := session.NewAppKeys(clock.New(time.Now), store.Memory{})
	key, err := keys.Register(owner, session.AppRegistration{})
	require.NoError(t, err)
	assert.Equal(t, session.AppScopes(), key.Scopes)
	assert.Nil(t, key.Remaining())

	found, err := keys.Authenticate(key.Secret)
	require.NoError(t, err)
	assert.Equal(t, key, found)
	for _, wrong := range []string{"", key.ID, key.Secret + "x"} {
		_, err := keys.Authenticate(wrong)
		assert.ErrorIs(t, err, wire.Unauthenticated())
	}
	require.NoError(t, keys.Delete(key.ID))
	assert.ErrorIs(t, keys.Delete(key.ID), wire.NotFound())
	_, err = keys.Authenticate(key.Secret)
	assert.ErrorIs(t, err, wire.Unauthenticated())
	assert.ErrorIs(t, keys.Spend(key.ID, *amount("1")), wire.Unauthenticated())
}

func TestAppKeysWithSameNameShareTheApp(t *testing.T) {
	keys := session.NewAppKeys(clock.New(time.Now), store.Memory{})
	register := func(account session.AppAccount, app string) string {
		key, err := keys.Register(account, session.AppRegistration{App: app})
		require.NoError(t, err)
		return key.AppID
	}
	first := register(owner, "shop")
	assert.Equal(t, first, register(owner, "shop"))
	assert.NotEqual(t, first, register(owner, "bot"))
	assert.NotEqual(t, first, register(session.AppAccount{ID: "acc_2"}, "shop"))
}

func TestInvalidAppKeyRegistrations(t *testing.T) {
	keys := session.NewAppKeys(clock.New(time.Now), store.Memory{})
	for name, registration := range map[string]session.AppRegistration{
		"unknown scope":  {Scopes: []string{"read", "everything"}},
		"negative limit": {SpendLimit: amount("-1")},
		"limit too fine": {SpendLimit: amount("0.0000001")},
	} {
		_, err := keys.Register(owner, registration)
		assert.ErrorIs(t, err, wire.ValidationFailed(""), name)
	}
	assert.Empty(t, keys.List())
}

func TestAppKeyCheckScope(t *testing.T) {
	keys := session.NewAppKeys(clock.New(time.Now), store.Memory{})
	key, err := keys.Register(owner, session.AppRegistration{Scopes: []string{session.AppScopeRead}})
	require.NoError(t, err)
	require.NoError(t, key.Check(""))
	require.NoError(t, key.Check(session.AppScopeRead))
	assert.ErrorIs(t, key.Check(session.AppScopeCards), wire.Forbidden())
}

func TestSpendingStopsAtTheLimit(t *testing.T) {
	keys := session.NewAppKeys(clock.New(time.Now), store.Memory{})
	key, err := keys.Register(owner, session.AppRegistration{SpendLimit: amount("10")})
	require.NoError(t, err)

	var spent sync.WaitGroup
	var mu sync.Mutex
	refused := 0
	for range 30 {
		spent.Go(func() {
			if keys.Spend(key.ID, *amount("1")) != nil {
				mu.Lock()
				refused++
				mu.Unlock()
			}
		})
	}
	spent.Wait()
	assert.Equal(t, 20, refused)

	keys.Refund(key.ID, *amount("2.5"))
	now, err := keys.Get(key.ID)
	require.NoError(t, err)
	assert.Equal(t, "2.5", now.Remaining().String())

	keys.Reset(now)
	now, err = keys.Authenticate(key.Secret)
	require.NoError(t, err)
	assert.Equal(t, "10", now.Remaining().String(), "the first state has nothing spent")
}

func TestAccessTokens(t *testing.T) {
	tokens := session.NewAccessTokens(store.Memory{})
	token := tokens.Mint(owner)
	found, err := tokens.Authenticate(token)
	require.NoError(t, err)
	assert.Equal(t, owner, found)
	_, err = tokens.Authenticate("")
	assert.ErrorIs(t, err, wire.Unauthenticated())
}

// TestAppKeysAreRestoredFromStore opens the same store again and compares, also what was spent.
func TestAppKeysAreRestoredFromStore(t *testing.T) {
	clk, backend := clock.New(time.Now), new(storetest.Encoded)
	keys, tokens := session.NewAppKeys(clk, backend), session.NewAccessTokens(backend)
	key, err := keys.Register(owner, session.AppRegistration{App: "shop", SpendLimit: amount("10.50")})
	require.NoError(t, err)
	gone, err := keys.Register(owner, session.AppRegistration{})
	require.NoError(t, err)
	require.NoError(t, keys.Delete(gone.ID))
	require.NoError(t, keys.Spend(key.ID, *amount("4")))
	keys.Refund(key.ID, *amount("1.25"))
	token := tokens.Mint(owner)
	assert.Empty(t, backend.Stale())

	again := session.NewAppKeys(clk, backend)
	assert.Equal(t, 1, again.Records())
	found, err := again.Authenticate(key.Secret)
	require.NoError(t, err)
	assert.Equal(t, "7.75", found.Remaining().String())
	assert.Equal(t, key.Scopes, found.Scopes)
	assert.True(t, key.CreatedAt.Equal(found.CreatedAt))
	account, err := session.NewAccessTokens(backend).Authenticate(token)
	require.NoError(t, err)
	assert.Equal(t, owner, account)

	again.Reset(found)
	found, err = session.NewAppKeys(clk, backend).Get(key.ID)
	require.NoError(t, err)
	assert.True(t, found.Spent.IsZero())
}
