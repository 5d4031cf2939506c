package servers

import (
	"fmt"
	"os"
	"syscall"
	"testing"

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

func TestServersDoNotRunAsRoot(t *testing.T) {
	t.Parallel()
	for _, server := range []*Server{PostgreSQL(t), Redis(t)} {
		info, err := os.Stat(fmt.Sprintf("/proc/%d", server.instance.process.ID()))
		require.NoError(t, err)
		assert.NotZero(t, info.Sys().(*syscall.Stat_t).Uid, server.name)
	}
}
