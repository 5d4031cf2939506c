package servers

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/url"
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
