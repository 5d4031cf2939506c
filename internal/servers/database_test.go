package servers

import (
	"context"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var shared Shared

func TestMain(m *testing.M) {
	defer shared.Stop()
	m.Run()
}

func TestEachTestHasADatabaseOfItsOwn(t *testing.T) {
	for range 2 {
		t.Run("one of two", func(t *testing.T) {
			t.Parallel()
			server := shared.PostgreSQL(t)
			at, err := url.Parse(server.URL())
			require.NoError(t, err)
			assert.Equal(t, []string{at.Path[1:]}, ask(t, server, "SELECT current_database()"))
			ask(t, server, "CREATE TABLE mine (n int)") // which would be there the second time
		})
	}
}

func TestDatabasesAreDropped(t *testing.T) {
	t.Parallel()
	shared.PostgreSQL(t) // skips the test if PostgreSQL is not installed
	var dropped string
	t.Run("a test", func(t *testing.T) {
		dropped = shared.PostgreSQL(t).URL()
		_, err := dial(t.Context(), dropped) // stays open: the database is dropped all the same
		require.NoError(t, err)
	})
	_, err := dial(t.Context(), dropped)
	assert.ErrorContains(t, err, "3D000", "no such database")
}

func TestASharedServerIsNotKilled(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*Server){
		"kill": (*Server).Kill, "stop": (*Server).Stop, "restart": (*Server).Restart,
	} {
		t.Run(name, func(t *testing.T) {
			s := shared.PostgreSQL(t)
			t.Cleanup(func() { assert.True(t, t.Skipped()) })
			end(s)
			t.Error("it did not skip")
		})
	}
}

func TestRunningServersAreUsed(t *testing.T) {
	own := PostgreSQL(t)
	t.Setenv("MONEYMOVEMENT_POSTGRES_URL", own.URL())
	t.Setenv("MONEYMOVEMENT_REDIS_URL", "redis://127.0.0.1:1/7")
	var elsewhere Shared
	for _, server := range []*Server{PostgreSQL(t), elsewhere.PostgreSQL(t)} {
		assert.NotEqual(t, own.URL(), server.URL(), "a database of its own")
		assert.Equal(t, ask(t, own, "SELECT pg_postmaster_start_time()"),
			ask(t, server, "SELECT pg_postmaster_start_time()"))
	}
	elsewhere.Stop()
	assert.NotEmpty(t, ask(t, own, "SELECT 1"), "Stop leaves a server alone that it did not start")
	assert.Equal(t, "redis://127.0.0.1:1/7", Redis(t).URL())
}

func TestLogins(t *testing.T) {
	t.Parallel()
	server := shared.PostgreSQL(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	at, err := url.Parse(server.URL())
	require.NoError(t, err)
	at.User = url.UserPassword("postgres", "not the password")
	_, err = dial(ctx, at.String())
	require.ErrorContains(t, err, "28P01")
	assert.NotContains(t, err.Error(), "not the password")

	// A server that does not know the password cannot pass for one.
	proof := scram{password: "secret"}
	require.Error(t, proof.verify("v="), "before the login began")
	proof.first()
	_, err = proof.final("r=" + proof.nonce + "more,s=c2FsdA==,i=4096")
	require.NoError(t, err)
	require.ErrorContains(t, proof.verify("v=c2lnbmF0dXJl"), "does not know the password")
	_, err = proof.final("r=another,s=c2FsdA==,i=4096")
	require.ErrorContains(t, err, "not for this login")
	_, err = authenticate(&proof, "secret", []byte{0, 0, 0, 5})
	require.ErrorContains(t, err, "method 5")
}
