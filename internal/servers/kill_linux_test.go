package servers

import (
	"fmt"
	"os"
	"strconv"
	"strings"
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
// time holds it. This test attaches to it for longer than a start takes.
func TestRestartWaitsForTheMemoryOfTheKilledServer(t *testing.T) {
	t.Parallel()
	server := PostgreSQL(t)
	lines, err := os.ReadFile(lockFile(server.instance.folder))
	require.NoError(t, err)
	key := strings.Fields(strings.Split(string(lines), "\n")[6]) // key and number of the shared memory
	require.Len(t, key, 2)
	number, err := strconv.Atoi(key[1])
	require.NoError(t, err)
	const readOnly = 0o10000
	attached, _, failed := syscall.Syscall(syscall.SYS_SHMAT, uintptr(number), 0, readOnly)
	require.Zero(t, failed)
	server.Kill()
	detached := make(chan syscall.Errno, 1)
	time.AfterFunc(time.Second, func() {
		_, _, failed := syscall.Syscall(syscall.SYS_SHMDT, attached, 0, 0)
		detached <- failed
	})
	server.Restart()
	assert.Zero(t, <-detached)
	c, err := dial(t.Context(), server.URL())
	require.NoError(t, err)
	assert.NoError(t, c.connection.Close())
}

func TestServersDoNotRunAsRoot(t *testing.T) {
	t.Parallel()
	for _, server := range []*Server{PostgreSQL(t), Redis(t)} {
		info, err := os.Stat(fmt.Sprintf("/proc/%d", server.instance.process.ID()))
		require.NoError(t, err)
		assert.NotZero(t, info.Sys().(*syscall.Stat_t).Uid, server.name)
	}
}
