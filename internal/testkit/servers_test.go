package testkit

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// ask runs a statement on a new connection.
func ask(t *testing.T, server *Server, statement string) []string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c, err := dial(ctx, server.URL())
	require.NoError(t, err)
	rows, err := c.query(statement)
	require.NoError(t, err, statement)
	require.NoError(t, c.close())
	return rows
}

// say sends a command to Redis over a connection of its own, and returns the lines of the response without the lengths
// of texts.
func say(t *testing.T, server *Server, command string) []string {
	t.Helper()
	at, err := url.Parse(server.URL())
	require.NoError(t, err)
	password, _ := at.User.Password()
	connection, err := net.Dial("tcp", at.Host)
	require.NoError(t, err)
	defer connection.Close()
	require.NoError(t, connection.SetDeadline(time.Now().Add(time.Minute)))
	_, err = fmt.Fprintf(connection, "AUTH %s\r\n%s\r\nQUIT\r\n", password, command)
	require.NoError(t, err)
	all, err := io.ReadAll(bufio.NewReader(connection))
	require.NoError(t, err)
	lines := strings.Split(strings.TrimSuffix(string(all), "\r\n"), "\r\n")
	require.Equal(t, "+OK", lines[0], "to AUTH")
	require.Equal(t, "+OK", lines[len(lines)-1], "to QUIT")
	return slices.DeleteFunc(lines[1:len(lines)-1], func(line string) bool { return strings.HasPrefix(line, "$") })
}

func TestPostgreSQLKeepsWhatItCommittedWhenKilled(t *testing.T) {
	t.Parallel()
	server := PostgreSQL(t, Setting{"max_connections", "37"})
	ask(t, server, "CREATE TABLE kept (n int); INSERT INTO kept VALUES (41)")
	first := ask(t, server, "SELECT pg_backend_pid()")
	url := server.URL()
	for round := range 3 {
		server.Kill()
		_, err := dial(t.Context(), server.URL())
		require.Error(t, err, "round %d: the server is gone", round)
		server.Kill() // does nothing
		server.Restart()
		ask(t, server, "UPDATE kept SET n = n + 1")
	}
	assert.Equal(t, []string{"44"}, ask(t, server, "SELECT n FROM kept"))
	assert.NotEqual(t, first, ask(t, server, "SELECT pg_backend_pid()"))
	assert.Equal(t, url, server.URL())
	assert.Equal(t, []string{"37"}, ask(t, server, "SHOW max_connections"))
	assert.Equal(t, []string{"on"}, ask(t, server, "SHOW fsync"))
	assert.Equal(t, []string{"on"}, ask(t, server, "SHOW synchronous_commit"))

	server.Stop()
	server.Stop() // does nothing
	server.Restart()
	assert.Equal(t, []string{"44"}, ask(t, server, "SELECT n FROM kept"))
}

func TestRedisKeepsWhatItAcknowledgedWhenKilled(t *testing.T) {
	t.Parallel()
	server := Redis(t, Setting{"maxclients", "37"})
	assert.Equal(t, []string{"+PONG"}, say(t, server, "PING"))
	assert.Equal(t, []string{"+OK"}, say(t, server, "SET kept 44"))
	url := server.URL()
	server.Kill()
	server.Restart()
	assert.Equal(t, []string{"44"}, say(t, server, "GET kept"))
	assert.Equal(t, url, server.URL())
	server.Stop()
	server.Restart()
	assert.Equal(t, []string{"44"}, say(t, server, "GET kept"))
	assert.Equal(t, []string{"*2", "maxclients", "37"}, say(t, server, "CONFIG GET maxclients"))
	assert.Equal(t, []string{"*2", "appendfsync", "always"}, say(t, server, "CONFIG GET appendfsync"))
}

var shared SharedPostgreSQL

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
	var elsewhere SharedPostgreSQL
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

// asChild marks a run of this test program in which no program of a server can be found.
const asChild = "MONEYMOVEMENT_SERVERS_CHILD"

func TestMissingPrograms(t *testing.T) {
	switch os.Getenv(asChild) {
	case "postgres":
		PostgreSQL(t)
		return
	case "shared":
		new(SharedPostgreSQL).PostgreSQL(t)
		return
	case "redis":
		Redis(t)
		return
	case "need":
		NeedServers(t)
		return
	}
	Long(t, "starts processes")
	t.Parallel()
	nowhere := t.TempDir()
	postgres := "PostgreSQL's programs initdb and postgres in " + nowhere +
		" (MONEYMOVEMENT_POSTGRES_BIN) not found: install Debian's package postgresql"
	redis := "redis-server in PATH not found: install Debian's package redis-server"
	for kind, line := range map[string]string{"postgres": postgres, "shared": postgres, "redis": redis} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			run := func(required string) (string, error) {
				child := exec.Command(os.Args[0], "-test.run=^TestMissingPrograms$", "-test.v")
				child.Env = []string{"PATH=", "TMPDIR=" + nowhere, asChild + "=" + kind,
					"MONEYMOVEMENT_POSTGRES_BIN=" + nowhere, "MONEYMOVEMENT_REQUIRE=" + required}
				said, err := child.CombinedOutput()
				return string(said), err
			}
			said, err := run("")
			require.NoError(t, err, said)
			assert.Contains(t, said, line)
			assert.Contains(t, said, "--- SKIP: TestMissingPrograms")

			said, err = run("servers")
			require.Error(t, err)
			assert.Contains(t, said, line)
			assert.Contains(t, said, "--- FAIL: TestMissingPrograms")
		})
	}
	left, err := os.ReadDir(nowhere)
	require.NoError(t, err)
	assert.Empty(t, left)
}

func TestNewestPostgreSQLIsUsed(t *testing.T) {
	debian := t.TempDir()
	for _, version := range []string{"9.6", "15", "17", "9"} {
		require.NoError(t, os.MkdirAll(filepath.Join(debian, version, "bin"), 0o700))
	}
	t.Setenv("PATH", "")
	assert.Equal(t, []string{filepath.Join(debian, "17", "bin"), filepath.Join(debian, "15", "bin"),
		filepath.Join(debian, "9", "bin"), filepath.Join(debian, "9.6", "bin")}, postgresFolders("", debian))
	assert.Equal(t, []string{"/named"}, postgresFolders("/named", debian))

	// In PATH, a link leads to the folder where all programs are.
	other, path := t.TempDir(), t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(other, "initdb"), nil, 0o700))
	require.NoError(t, os.Symlink(filepath.Join(other, "initdb"), filepath.Join(path, "initdb")))
	t.Setenv("PATH", path)
	resolved, err := filepath.EvalSymlinks(other)
	require.NoError(t, err)
	assert.Equal(t, []string{resolved, path}, postgresFolders("", t.TempDir()))
}

func TestStartServersOutsideATest(t *testing.T) {
	NeedServers(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for name, start := range map[string]func(...Setting) (*RunningServer, error){
		"PostgreSQL": StartPostgreSQL, "Redis": StartRedis,
	} {
		t.Run(name, func(t *testing.T) {
			server, err := start()
			require.NoError(t, err)
			assert.NotEmpty(t, server.URL())
			of, folder := server.instance, server.instance.folder
			require.NoError(t, of.engine.ready(ctx, folder, of.port, of.process.ID()), "it takes connections")
			require.NoError(t, server.Stop())
			assert.NoDirExists(t, folder)
		})
	}
}

func TestStartUsesRunningServers(t *testing.T) {
	t.Setenv("PATH", "")
	t.Setenv(postgresFolder, t.TempDir())
	_, err := StartPostgreSQL()
	require.ErrorContains(t, err, "install Debian's package postgresql")
	_, err = StartRedis()
	require.ErrorContains(t, err, "install Debian's package redis-server")

	t.Setenv(postgresURL, "postgres://127.0.0.1:1/elsewhere")
	t.Setenv(redisURL, "redis://127.0.0.1:1/7")
	NeedServers(t)
	for url, start := range map[string]func(...Setting) (*RunningServer, error){
		"postgres://127.0.0.1:1/elsewhere": StartPostgreSQL, "redis://127.0.0.1:1/7": StartRedis,
	} {
		server, err := start()
		require.NoError(t, err)
		assert.Equal(t, url, server.URL())
		assert.NoError(t, server.Stop())
	}
	assert.False(t, t.Skipped())
}
