//go:build unix

package control

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/app"
)

// Whoever can write to the folder could replace the key that callers read there, and the state.
func TestSharedFolderIsRefused(t *testing.T) {
	for _, mode := range []os.FileMode{0o777, 0o722, 0o702, 0o720, 0o770} {
		folder := filepath.Join(t.TempDir(), "data")
		require.NoError(t, os.Mkdir(folder, 0o700))
		require.NoError(t, os.Chmod(folder, mode))
		var problems bytes.Buffer
		code := run(t.Context(), &app.App{Out: io.Discard, Err: &problems},
			[]string{"sandbox", "-addr", "127.0.0.1:0", "-data", folder})
		assert.Equal(t, app.ExitUsage, code, "%o", mode)
		assert.Contains(t, problems.String(), "others can write to "+folder)
		made, err := os.ReadDir(folder)
		require.NoError(t, err)
		assert.Empty(t, made, "%o", mode)

		_, err = keyFolder(folder, "127.0.0.1:1")
		require.ErrorContains(t, err, "others can write to "+folder)
	}
	for _, mode := range []os.FileMode{0o700, 0o755, 0o711} {
		folder := filepath.Join(t.TempDir(), "data")
		require.NoError(t, os.Mkdir(folder, mode))
		require.NoError(t, ownFolder("-data", folder))
	}
	require.NoError(t, ownFolder("-data", filepath.Join(t.TempDir(), "new")))
}
