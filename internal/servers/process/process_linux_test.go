package process

import (
	"bufio"
	"context"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/internal/tier"
)

// asParent marks a run of this test program that starts a program and never ends by itself.
const asParent = "MONEYMOVEMENT_PROCESS_PARENT"

func TestAProgramEndsWithTheProcessThatStartedIt(t *testing.T) {
	if os.Getenv(asParent) != "" {
		program, err := Start(exec.Command("sleep", "600"), nil, syscall.SIGTERM)
		require.NoError(t, err)
		_, err = os.Stdout.WriteString("\nprogram " + strconv.Itoa(program.ID()) + "\n")
		require.NoError(t, err)
		_ = program.Err()
		return
	}
	tier.Long(t, "starts processes")
	t.Parallel()
	command := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	command.Env = append(os.Environ(), asParent+"=1")
	output, err := command.StdoutPipe()
	require.NoError(t, err)
	parent, err := Start(command, nil, syscall.SIGKILL)
	require.NoError(t, err)
	id := number(t, output, "program ")
	require.True(t, Alive(id))
	require.NoError(t, parent.handle.Kill()) // without its children
	require.Error(t, parent.Err())
	assert.NoError(t, gone([]int{id}))
}

func TestKillReachesTheChildrenOfChildren(t *testing.T) {
	tier.Long(t, "starts processes")
	t.Parallel()
	command := exec.Command("sh", "-c", `sh -c 'sleep 600 & echo "program $!"; wait' & wait`)
	output, err := command.StdoutPipe()
	require.NoError(t, err)
	program, err := Start(command, nil, syscall.SIGKILL)
	require.NoError(t, err)
	id := number(t, output, "program ")
	require.True(t, Alive(id))
	require.NoError(t, program.Kill())
	assert.False(t, Alive(id))
	assert.False(t, Alive(program.ID()))
	assert.ErrorContains(t, program.Err(), "killed")
	assert.NoError(t, program.Kill(), "a second time")
}

func TestAProgramThatIgnoresItsSignalIsKilled(t *testing.T) {
	tier.Long(t, "starts processes")
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
			program, err := Start(command, nil, syscall.SIGKILL)
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
	_, err := Start(exec.CommandContext(context.Background(), "/no/such/program"), nil, syscall.SIGKILL)
	require.ErrorIs(t, err, os.ErrNotExist)
	as, err := Lowered([]string{"no-such-user", "root"})
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
