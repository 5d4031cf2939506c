package servers

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/internal/servers/process"
)

// A statement that runs keeps its process busy, which would outlive the main process for a while.
func TestKillEndsTheProcessesOfConnections(t *testing.T) {
	t.Parallel()
	server := PostgreSQL(t)
	c, err := dial(t.Context(), server.URL())
	require.NoError(t, err)
	defer c.connection.Close()
	below, err := process.Descendants(server.instance.process.ID())
	require.NoError(t, err)
	require.Greater(t, len(below), 3, "PostgreSQL has a process for each connection and some more")
	server.Kill()
	for _, id := range below {
		assert.False(t, process.Alive(id), "process %d runs", id)
	}
	_, err = c.query("SELECT 1")
	assert.Error(t, err)
}

// The memory of a killed server may be in use for a moment after its processes have ended: whoever reads /proc at that
// time holds it. Here a stopped process of the server holds it for longer than a start takes.
func TestRestartWaitsForTheMemoryOfTheKilledServer(t *testing.T) {
	t.Parallel()
	server := PostgreSQL(t)
	below, err := process.Descendants(server.instance.process.ID())
	require.NoError(t, err)
	require.NotEmpty(t, below)
	require.NoError(t, syscall.Kill(below[0], syscall.SIGSTOP))
	killed, err := server.instance.down()
	require.NoError(t, err)
	server.instance.killed = true
	require.NoError(t, syscall.Kill(killed.ID(), syscall.SIGKILL)) // without its children
	require.Error(t, killed.Err())
	ended := make(chan error, 1)
	time.AfterFunc(time.Second, func() { ended <- syscall.Kill(below[0], syscall.SIGKILL) })
	server.Restart()
	require.NoError(t, <-ended)
	assert.Equal(t, []string{"1"}, ask(t, server, "SELECT 1"))
}

func TestRestartOfADamagedServerFailsAtOnce(t *testing.T) {
	t.Parallel()
	server := PostgreSQL(t)
	server.Kill()
	require.NoError(t, os.Remove(filepath.Join(server.instance.folder, "data", "PG_VERSION")))
	began := time.Now()
	err := server.instance.restart()
	require.ErrorIs(t, err, errDown)
	assert.ErrorContains(t, err, "PG_VERSION")
	assert.Less(t, time.Since(began), startWithin)
}

func TestServersDoNotRunAsRoot(t *testing.T) {
	t.Parallel()
	for _, server := range []*Server{PostgreSQL(t), Redis(t)} {
		info, err := os.Stat(fmt.Sprintf("/proc/%d", server.instance.process.ID()))
		require.NoError(t, err)
		assert.NotZero(t, info.Sys().(*syscall.Stat_t).Uid, server.name)
	}
}
