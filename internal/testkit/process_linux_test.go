package testkit

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// asParent marks a run of this test program that starts a program and never ends by itself.
const asParent = "MONEYMOVEMENT_PROCESS_PARENT"

func TestProcessEndsWithItsParent(t *testing.T) {
	if os.Getenv(asParent) != "" {
		program, err := StartProcess(exec.Command("sleep", "600"), nil, syscall.SIGTERM)
		require.NoError(t, err)
		_, err = os.Stdout.WriteString("\nprogram " + strconv.Itoa(program.ID()) + "\n")
		require.NoError(t, err)
		_ = program.Err()
		return
	}
	Long(t, "starts processes")
	t.Parallel()
	command := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	command.Env = append(os.Environ(), asParent+"=1")
	output, err := command.StdoutPipe()
	require.NoError(t, err)
	parent, err := StartProcess(command, nil, syscall.SIGKILL)
	require.NoError(t, err)
	id := number(t, output, "program ")
	require.True(t, Alive(id))
	require.NoError(t, parent.handle.Kill()) // without its children
	require.Error(t, parent.Err())
	assert.NoError(t, waitGone([]int{id}))
}

func TestKillReachesAllDescendants(t *testing.T) {
	Long(t, "starts processes")
	t.Parallel()
	command := exec.Command("sh", "-c", `sh -c 'sleep 600 & echo "program $!"; wait' & wait`)
	output, err := command.StdoutPipe()
	require.NoError(t, err)
	program, err := StartProcess(command, nil, syscall.SIGKILL)
	require.NoError(t, err)
	id := number(t, output, "program ")
	require.True(t, Alive(id))
	require.NoError(t, program.Kill())
	assert.False(t, Alive(id))
	assert.False(t, Alive(program.ID()))
	assert.ErrorContains(t, program.Err(), "killed")
	assert.NoError(t, program.Kill(), "a second time")
}

func TestProcessThatIgnoresSIGTERMIsKilled(t *testing.T) {
	Long(t, "starts processes")
	t.Parallel()
	for name, deaf := range map[string]bool{"it ends": false, "it is killed": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			trap := "trap 'exit 0' TERM"
			if deaf {
				trap = "trap '' TERM"
			}
			command := exec.Command("sh", "-c", trap+`; echo "program $$"; while :; do sleep 0.01; done`)
			output, err := command.StdoutPipe()
			require.NoError(t, err)
			program, err := StartProcess(command, nil, syscall.SIGKILL)
			require.NoError(t, err)
			assert.Equal(t, program.ID(), number(t, output, "program "))
			if !deaf {
				require.NoError(t, program.End(syscall.SIGTERM, time.Minute))
				assert.NoError(t, program.Err())
				return
			}
			require.ErrorContains(t, program.End(syscall.SIGTERM, 50*time.Millisecond), "did not end within 50ms")
			assert.ErrorContains(t, program.Err(), "killed")
		})
	}
}

func TestStartErrors(t *testing.T) {
	t.Parallel()
	_, err := StartProcess(exec.CommandContext(context.Background(), "/no/such/program"), nil, syscall.SIGKILL)
	require.ErrorIs(t, err, os.ErrNotExist)
	as, err := UnprivilegedAccount([]string{"no-such-user", "root"})
	if os.Geteuid() != 0 {
		require.NoError(t, err)
		assert.Nil(t, as)
		return
	}
	assert.ErrorContains(t, err, "[no-such-user root]")
}

// number reads lines until one begins with the prefix, and returns the number after it.
func number(t *testing.T, output io.Reader, prefix string) int {
	t.Helper()
	lines := bufio.NewScanner(output)
	for lines.Scan() {
		if text, found := strings.CutPrefix(lines.Text(), prefix); found {
			id, err := strconv.Atoi(text)
			require.NoError(t, err)
			return id
		}
	}
	require.NoError(t, lines.Err())
	t.Fatalf("no line begins with %q", prefix)
	return 0
}

func TestFoldersOfKilledTestsAreRemoved(t *testing.T) {
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	old := time.Now().Add(-2 * abandonedAfter)
	folder := func(name string, changed time.Time) string {
		path := filepath.Join(temporary, name)
		require.NoError(t, os.MkdirAll(filepath.Join(path, "data"), 0o700))
		require.NoError(t, os.Chtimes(path, changed, changed))
		return path
	}
	abandoned, young := folder("mine-1", old), folder("mine-2", time.Now())
	held, other := folder("mine-3", old), folder("other-4", old)
	lock, err := lockFolder(held)
	require.NoError(t, err)
	require.NoError(t, os.Chtimes(held, old, old))
	removeAbandoned("mine-*")
	assert.NoDirExists(t, abandoned)
	assert.DirExists(t, young)
	assert.DirExists(t, held)
	assert.DirExists(t, other)
	require.NoError(t, lock.Close())
	removeAbandoned("mine-*")
	assert.NoDirExists(t, held, "its test has ended")
}

// A statement that runs keeps its process busy, which would outlive the main process for a while.
func TestKillEndsTheProcessesOfConnections(t *testing.T) {
	t.Parallel()
	server := PostgreSQL(t)
	c, err := dial(t.Context(), server.URL())
	require.NoError(t, err)
	defer c.connection.Close()
	below, err := Descendants(server.instance.process.ID())
	require.NoError(t, err)
	require.Greater(t, len(below), 3, "PostgreSQL has a process for each connection and some more")
	server.Kill()
	for _, id := range below {
		assert.False(t, Alive(id), "process %d runs", id)
	}
	_, err = c.query("SELECT 1")
	assert.Error(t, err)
}

// The memory of a killed server may be in use for a moment after its processes have ended: whoever reads /proc at that
// time holds it. Here a stopped process of the server holds it for longer than a start takes.
func TestRestartWaitsForTheMemoryOfTheKilledServer(t *testing.T) {
	t.Parallel()
	server := PostgreSQL(t)
	below, err := Descendants(server.instance.process.ID())
	require.NoError(t, err)
	require.NotEmpty(t, below)
	require.NoError(t, syscall.Kill(below[0], syscall.SIGSTOP))
	killed, err := server.instance.takeProcess()
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
