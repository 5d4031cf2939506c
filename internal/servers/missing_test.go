package servers

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/internal/tier"
)

// asChild marks a run of this test program in which no program of a server can be found.
const asChild = "MONEYMOVEMENT_SERVERS_CHILD"

func TestMissingPrograms(t *testing.T) {
	switch os.Getenv(asChild) {
	case "postgres":
		PostgreSQL(t)
		return
	case "shared":
		new(Shared).PostgreSQL(t)
		return
	case "redis":
		Redis(t)
		return
	case "need":
		Need(t)
		return
	}
	tier.Long(t, "starts processes")
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

func TestTheNewestPostgreSQLIsTaken(t *testing.T) {
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
