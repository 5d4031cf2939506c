package fleetredis_test

import (
	"bytes"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	fleetredis "github.com/moneymovement/moneymovement-go/fleet/redis"
	"github.com/moneymovement/moneymovement-go/internal/testkit"
)

func dial(t *testing.T, server *testkit.Server) redis.UniversalClient {
	t.Helper()
	options, err := redis.ParseURL(server.URL())
	require.NoError(t, err)
	client := redis.NewClient(options)
	t.Cleanup(func() { client.Close() })
	return client
}

// seal is a key.
func seal(key byte) []byte { return bytes.Repeat([]byte{key}, 32) }

// storeOf returns a token store, which stores the session as it is if no option says otherwise.
func storeOf(
	t *testing.T, client redis.UniversalClient, credential string, options ...fleetredis.TokenStoreOption,
) *fleetredis.TokenStore {
	t.Helper()
	options = append([]fleetredis.TokenStoreOption{fleetredis.WithoutEncryption()}, options...)
	store, err := fleetredis.NewTokenStore(client, credential, options...)
	require.NoError(t, err)
	return store
}

func TestTokenStore(t *testing.T) {
	client := dial(t, testkit.Redis(t))
	testkit.TokenStore(t, storeOf(t, client, "plain"))
	testkit.TokenStore(t, storeOf(t, client, "sealed", fleetredis.WithEncryption(seal(1)),
		fleetredis.WithPrefix("other:")))
	plain := client.Get(t.Context(), "moneymovement:session:{plain}").Val()
	sealed := client.Get(t.Context(), "other:session:{sealed}").Val()
	assert.Contains(t, plain, "two-refresh")
	assert.NotEmpty(t, sealed)
	assert.NotContains(t, sealed, "two")
	for _, name := range []string{"moneymovement:session:{plain}", "other:session:{sealed}"} {
		assert.Positive(t, client.TTL(t.Context(), name).Val(), "the value ends with the refresh token")
	}
}

// A store says how its session is protected.
func TestATokenStoreNeedsItsProtection(t *testing.T) {
	for says, options := range map[string][]fleetredis.TokenStoreOption{
		"needs WithEncryption and a key, or WithoutEncryption": nil,
		"has 16 bytes: take 32 random ones":                    {fleetredis.WithEncryption(make([]byte, 16))},
	} {
		_, err := fleetredis.NewTokenStore(nil, "c", options...)
		require.ErrorContains(t, err, says)
	}
}

// A value that cannot be read or decrypted is ignored, and the next login replaces it.
func TestForeignValueIsNotReadAsASession(t *testing.T) {
	client := dial(t, testkit.Redis(t))
	const key = "moneymovement:session:{c}"
	store := storeOf(t, client, "c", fleetredis.WithEncryption(seal(1)))
	other := storeOf(t, client, "c", fleetredis.WithEncryption(seal(2)))
	plain := storeOf(t, client, "c")
	for name, put := range map[string]func() error{
		"another key":   func() error { return other.Save(t.Context(), testkit.Session("x")) },
		"not encrypted": func() error { return plain.Save(t.Context(), testkit.Session("x")) },
		"short":         func() error { return client.Set(t.Context(), key, "x", 0).Err() },
		"empty":         func() error { return client.Set(t.Context(), key, "", 0).Err() },
		"a list":        func() error { return client.RPush(t.Context(), key, "x").Err() },
	} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, client.Del(t.Context(), key).Err())
			require.NoError(t, put())
			stored, err := store.Load(t.Context())
			require.NoError(t, err)
			assert.True(t, stored.AccessToken.IsZero())
			require.NoError(t, store.Save(t.Context(), testkit.Session("new")))
			stored, err = store.Load(t.Context())
			require.NoError(t, err)
			assert.Equal(t, "new", stored.AccessToken.Reveal())
		})
	}
	stored, err := plain.Load(t.Context())
	require.NoError(t, err)
	assert.True(t, stored.AccessToken.IsZero())
}

func TestAStoreThatIsDown(t *testing.T) {
	server := testkit.Redis(t)
	store := storeOf(t, dial(t, server), "c")
	server.Stop()
	_, err := store.Load(t.Context())
	require.Error(t, err)
	require.Error(t, store.Save(t.Context(), testkit.Session("secret token")))
	_, err = store.Lock(t.Context(), "a", 1)
	require.Error(t, err)
	require.Error(t, store.Unlock(t.Context(), "a"))
}
