package fleetredis

import (
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/moneymovement/moneymovement-go/fleet"
	"github.com/moneymovement/moneymovement-go/internal/testkit"
)

func connect(t *testing.T, server *testkit.Server) redis.UniversalClient {
	t.Helper()
	options, err := redis.ParseURL(server.URL())
	require.NoError(t, err)
	client := redis.NewClient(options)
	t.Cleanup(func() { client.Close() })
	return client
}

// The script gives the same slots as the store in memory, with a clock of the test in place of the server's.
func TestScriptMatchesTheMemoryStore(t *testing.T) {
	const clock = "redis.call('TIME')"
	require.Equal(t, 1, strings.Count(takeScript, clock))
	const fromTheTest = "{table.remove(ARGV, #ARGV - 1), table.remove(ARGV)}"
	script := redis.NewScript(strings.Replace(takeScript, clock, fromTheTest, 1))
	client := connect(t, testkit.Redis(t))
	request := func(now time.Time, request fleet.Request) (fleet.Reservation, error) {
		args := append(arguments(&request), now.Unix(), now.UnixMicro()%1_000_000)
		reply, err := script.Run(t.Context(), client, []string{"window:{" + request.Key + "}"}, args...).Slice()
		if err != nil {
			return fleet.Reservation{}, err
		}
		return read(reply)
	}
	rapid.Check(t, func(rt *rapid.T) {
		draw := func(n int) int { return rapid.IntRange(0, n-1).Draw(rt, "draw") }
		testkit.SameAsMemory(rt, draw, request)
	})
}
