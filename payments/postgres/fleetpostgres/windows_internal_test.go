package fleetpostgres

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/moneymovement/moneymovement-go/fleet"
	"github.com/moneymovement/moneymovement-go/internal/testkit"
)

func connect(t *testing.T, server *testkit.Server) *pgxpool.Pool {
	t.Helper()
	pool, err := pgxpool.New(t.Context(), server.URL())
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	return pool
}

// The function gives the same slots as the log in memory, with a clock of the test in place of the database's.
func TestSQLFunctionMatchesMemoryWindows(t *testing.T) {
	const clock = "floor(extract(epoch FROM clock_timestamp()) * 1000000)"
	require.Equal(t, 1, strings.Count(function, clock))
	pool := connect(t, testkit.PostgreSQL(t))
	require.NoError(t, Migrate(t.Context(), pool, "other schema"))
	changed := strings.Replace(function, clock, "split_part(p_name, ' ', 1)::bigint", 1)
	named, err := schemaOf("other schema")
	require.NoError(t, err)
	_, err = pool.Exec(t.Context(), named.In(changed))
	require.NoError(t, err)
	windows, err := NewWindows(pool, "other schema")
	require.NoError(t, err)
	windows.take = strings.Replace(windows.take, "$10", "$13 || ' ' || $10", 1)
	reserve := func(now time.Time, reserve fleet.Request) (fleet.Reservation, error) {
		set := *windows
		set.take = strings.Replace(windows.take, "$13", fmt.Sprintf("'%d'", now.UnixMicro()), 1)
		return set.Reserve(t.Context(), reserve)
	}
	rapid.Check(t, func(rt *rapid.T) {
		draw := func(n int) int { return rapid.IntRange(0, n-1).Draw(rt, "draw") }
		testkit.SameAsMemory(rt, draw, reserve)
	})
}
