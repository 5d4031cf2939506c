package servers

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

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
	lock, err := hold(held)
	require.NoError(t, err)
	require.NoError(t, os.Chtimes(held, old, old))
	sweep("mine-*")
	assert.NoDirExists(t, abandoned)
	assert.DirExists(t, young)
	assert.DirExists(t, held)
	assert.DirExists(t, other)
	require.NoError(t, lock.Close())
	sweep("mine-*")
	assert.NoDirExists(t, held, "its test has ended")
}
