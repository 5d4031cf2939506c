package fleetredis_test

import (
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/fleet"
	fleetredis "github.com/moneymovement/moneymovement-go/fleet/redis"
	"github.com/moneymovement/moneymovement-go/internal/testkit"
)

// Scripts can be flushed at any time: the next request brings its script.
func TestAFlushOfTheScripts(t *testing.T) {
	client := dial(t, testkit.Redis(t))
	windows := fleetredis.NewWindows(client, "")
	request := fleet.Request{Key: "a", Process: "p", Calls: 120, Span: time.Minute}
	request.Waiting[0] = 1
	for range 3 {
		reservation, err := windows.Reserve(t.Context(), request)
		require.NoError(t, err)
		assert.Len(t, reservation.Slots, 1)
		require.NoError(t, client.ScriptFlush(t.Context()).Err())
	}
}

// The server is killed under load, and comes back: calls fail in between, and then go on.
func TestAServerThatIsKilledUnderLoad(t *testing.T) {
	server := testkit.Redis(t)
	testkit.KilledStore(t, server.Kill, server.Restart, func() fleet.Windows {
		return fleetredis.NewWindows(dial(t, server), "")
	})
}

// A value of another program, or a damaged one, is refused with what to do, and is left as it is.
func TestForeignValueIsNotReadAsAWindow(t *testing.T) {
	client := dial(t, testkit.Redis(t))
	const key = "moneymovement:window:{credential:writes}"
	for name, put := range map[string]func() *redis.StatusCmd{
		"text":   func() *redis.StatusCmd { return client.Set(t.Context(), key, "text of another program", 0) },
		"number": func() *redis.StatusCmd { return client.Set(t.Context(), key, 17, 0) },
		"empty":  func() *redis.StatusCmd { return client.Set(t.Context(), key, "", 0) },
	} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, put().Err())
			before := client.Get(t.Context(), key).Val()
			refused(t, client)
			assert.Equal(t, before, client.Get(t.Context(), key).Val())
		})
	}
	require.NoError(t, client.Del(t.Context(), key).Err())
	require.NoError(t, client.RPush(t.Context(), key, "1").Err())
	refused(t, client)

	require.NoError(t, client.Del(t.Context(), key).Err())
	limiter, err := fleetredis.NewLimiter(client, "credential")
	require.NoError(t, err)
	require.NoError(t, limiter.Wait(t.Context(), moneymovement.RateCall{Window: moneymovement.WindowWrites}))
	whole := client.Get(t.Context(), key).Val()
	require.NoError(t, client.Set(t.Context(), key, whole[:len(whole)/2], 0).Err())
	refused(t, client)
}

func refused(t *testing.T, client redis.UniversalClient) {
	t.Helper()
	limiter, err := fleetredis.NewLimiter(client, "credential", fleet.WithPatience(0))
	require.NoError(t, err)
	err = limiter.Wait(t.Context(), moneymovement.RateCall{Window: moneymovement.WindowWrites})
	var unavailable *fleet.StoreUnavailable
	require.ErrorAs(t, err, &unavailable)
	assert.ErrorContains(t, err, `the value of the Redis key "moneymovement:window:{credential:writes}" is not a rate `+
		`window: delete the key, or use another prefix`)
}

func TestALimiterWithoutAClient(t *testing.T) {
	_, err := fleetredis.NewLimiter(nil, "credential")
	require.ErrorContains(t, err, "make one with redis.NewClient")
}
