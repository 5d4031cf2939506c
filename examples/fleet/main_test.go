package main

import (
	"io"
	"os"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/examples/internal/program"
	"github.com/moneymovement/moneymovement-go/examples/internal/rehearsal"
	"github.com/moneymovement/moneymovement-go/internal/testkit"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

// TestMain runs the program if the program, under test, started itself.
func TestMain(m *testing.M) {
	if program.StartedAgain() {
		main()
	}
	os.Exit(m.Run())
}

// The program compares the host's books with the invoices itself, and fails if they differ.
func TestFleetSurvivesKilledWorker(t *testing.T) {
	testkit.NeedServers(t)
	t.Setenv("MONEYMOVEMENT_BASE_URL", "")
	t.Setenv("TMPDIR", folder(t))
	told := rehearsal.Run(t, run, []string{"-payments", "150"}, "opened 4 clients with money", "started 4 workers",
		"submitted 150 payments, each in a transaction with its invoice", "killed worker 2 with SIGKILL when ")
	making := number(t, told, `it was making (\d+)`)
	assert.Positive(t, making, "it was killed in the middle of payments")
	assert.LessOrEqual(t, making, 16.0)
	took := number(t, told, `completed these \d+ payments, ([\d.]+) s after the kill`)
	assert.Less(t, took, 30.0)
	rehearsal.CheckSteps(t, told, "all 150 payments are completed",
		"the host's log: 1 login, 0 calls refused with 429, ",
		"the host's books: 150 payments for 150 invoices, 213.75 USDC in all; no invoice was paid twice")
	all := 0.0
	for worker := range 4 {
		made := number(t, told, "worker "+strconv.Itoa(worker+1)+` made (\d+)`)
		assert.Positive(t, made, "worker %d", worker+1)
		all += made
	}
	assert.LessOrEqual(t, all, 150.0)
	assert.GreaterOrEqual(t, all, 150-making, "its last lines may be lost")
	assert.Greater(t, number(t, told, `([\d.]+) % of the write window used`), 90.0)
}

// A run leaves nothing in the servers of others but keys of Redis that end by themselves.
func TestRunningServersAreUsed(t *testing.T) {
	database, keys := testkit.PostgreSQL(t), testkit.Redis(t)
	t.Setenv("MONEYMOVEMENT_BASE_URL", "")
	t.Setenv("MONEYMOVEMENT_POSTGRES_URL", database.URL())
	t.Setenv("MONEYMOVEMENT_REDIS_URL", keys.URL())
	rehearsal.Run(t, run, []string{"-payments", "30", "-workers", "2"}, "all 30 payments are completed",
		"1 login, 0 calls refused with 429", "30 payments for 30 invoices")

	pool, err := pgxpool.New(t.Context(), database.URL())
	require.NoError(t, err)
	defer pool.Close()
	var schemas int
	require.NoError(t, pool.QueryRow(t.Context(),
		"SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'fleet\\_example%'").Scan(&schemas))
	assert.Zero(t, schemas)
	options, err := redis.ParseURL(keys.URL())
	require.NoError(t, err)
	client := redis.NewClient(options)
	defer client.Close()
	names, err := client.Keys(t.Context(), "*").Result()
	require.NoError(t, err)
	for _, name := range names {
		assert.Positive(t, client.TTL(t.Context(), name).Val(), name)
	}
}

// folder returns a temporary folder that PostgreSQL can reach under a user of its own.
func folder(t *testing.T) string {
	t.Helper()
	name, err := os.MkdirTemp("", "fleet-") //nolint:usetesting // that of a test belongs to root alone
	require.NoError(t, err)
	require.NoError(t, os.Chmod(name, 0o755)) // another user must pass through it
	t.Cleanup(func() {
		left, err := os.ReadDir(name)
		require.NoError(t, err)
		assert.Empty(t, left, "nothing is left of servers and hosts")
		require.NoError(t, os.RemoveAll(name))
	})
	return name
}

func number(t *testing.T, told, pattern string) float64 {
	t.Helper()
	found := regexp.MustCompile(pattern).FindStringSubmatch(told)
	require.NotNil(t, found, "%s in:\n%s", pattern, told)
	value, err := strconv.ParseFloat(found[1], 64)
	require.NoError(t, err)
	return value
}

func TestMissingServersAreNamed(t *testing.T) {
	t.Setenv("MONEYMOVEMENT_BASE_URL", "")
	t.Setenv("MONEYMOVEMENT_POSTGRES_URL", "")
	t.Setenv("MONEYMOVEMENT_POSTGRES_BIN", t.TempDir())
	err := run(t.Context(), nil, io.Discard)
	require.ErrorContains(t, err, "install Debian's package postgresql")

	t.Setenv("MONEYMOVEMENT_POSTGRES_URL", "postgres://127.0.0.1:1/nowhere")
	t.Setenv("MONEYMOVEMENT_REDIS_URL", "")
	t.Setenv("PATH", "")
	err = run(t.Context(), nil, io.Discard)
	require.ErrorContains(t, err, "install Debian's package redis-server")
}

// The log of a run: logins are counted, and only whole windows.
func TestWholeWindowsAreCounted(t *testing.T) {
	at := time.Date(2026, 11, 1, 9, 0, 0, 0, time.UTC)
	requests := []sandbox.Request{{Time: at, Method: "POST", Path: "/dapi/v1/auth/token", Operation: "CreateToken"}}
	for i := range 90 { // in the first minute
		requests = append(requests, sandbox.Request{Time: at.Add(time.Duration(i) * 100 * time.Millisecond),
			Method: "POST", Path: "/dapi/v1/payouts", Operation: "BookPayout", Status: 201})
	}
	requests = append(requests, sandbox.Request{Time: at.Add(15 * time.Second), Method: "POST",
		Path: "/dapi/v1/payouts", Operation: "BookPayout", Status: 429})
	seen := readLog(requests, 10*time.Second)
	assert.Equal(t, 1, seen.logins)
	assert.Equal(t, 1, seen.limited)
	assert.InDelta(t, 90.0/120, seen.used, 1e-9)
	assert.Zero(t, readLog(nil, time.Second).used)
}
