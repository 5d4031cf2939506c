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
	"github.com/moneymovement/moneymovement-go/internal/fleettest"
	"github.com/moneymovement/moneymovement-go/internal/servers"
)

// load fills a window from 16 limiters, each with its own connections, and runs what happens meanwhile.
func load(
	t *testing.T, server *servers.Server, periods int, happens func(after func(time.Duration)),
) fleettest.Result {
	t.Helper()
	began := time.Now()
	held := fleettest.Allowance().Held()
	options, err := redis.ParseURL(server.URL())
	require.NoError(t, err)
	done := make(chan fleettest.Result, 1)
	go func() {
		done <- fleettest.Load{
			Processes: 16, Callers: 5, For: time.Duration(periods-1)*held + held/2 + 500*time.Millisecond,
			Open: func() fleet.Windows { return fleetredis.NewWindows(redis.NewClient(options), "") },
		}.Run(t)
	}()
	happens(func(d time.Duration) { <-time.After(time.Until(began.Add(d))) })
	return <-done
}

// Scripts can be flushed at any time.
func TestAFlushOfTheScripts(t *testing.T) {
	server := servers.Redis(t)
	client := dial(t, server)
	result := load(t, server, 2, func(after func(time.Duration)) {
		for i := range 20 {
			after(time.Duration(i) * 400 * time.Millisecond)
			assert.NoError(t, client.ScriptFlush(t.Context()).Err())
		}
	})
	assert.LessOrEqual(t, result.Most(), 120)
	assert.GreaterOrEqual(t, result.Used(2), 0.98)
	assert.Zero(t, result.Away)
	assert.Less(t, result.Asked, len(result.At))
}

// A server that loses its log lets at most one window more through.
func TestAServerThatLosesItsLog(t *testing.T) {
	server := servers.Redis(t)
	client := dial(t, server)
	result := load(t, server, 3, func(after func(time.Duration)) {
		after(2 * time.Second)
		assert.NoError(t, client.FlushAll(t.Context()).Err())
	})
	assert.LessOrEqual(t, result.Most(), 240)
	assert.GreaterOrEqual(t, result.Used(3), 0.9)
}

// The server is killed under load, and comes back: calls fail in between or use the share of their process, and then go
// on.
func TestAServerThatIsKilledUnderLoad(t *testing.T) {
	for name, options := range map[string][]fleet.Option{
		"fail":  {fleet.WithPatience(300 * time.Millisecond)},
		"share": {fleet.WithShareWhileAway(16)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := servers.Redis(t)
			result := fleettest.Killed(t, server.Kill, server.Restart, func() fleet.Windows {
				return fleetredis.NewWindows(dial(t, server), "")
			}, options...)
			if name == "share" {
				assert.Zero(t, result.Away)
			} else {
				assert.Positive(t, result.Away)
			}
		})
	}
}

// A value of another program, or a damaged one, is refused with what to do, and is left as it is.
func TestAForeignValueIsNoWindow(t *testing.T) {
	client := dial(t, servers.Redis(t))
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
	var away *fleet.StoreAway
	require.ErrorAs(t, err, &away)
	assert.ErrorContains(t, err, `the value of the Redis key "moneymovement:window:{credential:writes}" is not a rate `+
		`window: delete the key, or use another prefix`)
}

func TestALimiterWithoutAClient(t *testing.T) {
	_, err := fleetredis.NewLimiter(nil, "credential")
	require.ErrorContains(t, err, "make one with redis.NewClient")
}
