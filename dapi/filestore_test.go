package dapi_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
)

func TestFileTokenStoreKeepsASession(t *testing.T) {
	store := dapi.FileTokenStore(filepath.Join(t.TempDir(), "session"))
	none, err := store.Load(t.Context())
	require.NoError(t, err, "a file that is not there holds no session")
	assert.Equal(t, dapi.Session{}, none)

	require.NoError(t, store.Save(t.Context(), secretive))
	got, err := store.Load(t.Context())
	require.NoError(t, err)
	assert.Equal(t, exported(t, secretive), exported(t, got))
}

func TestFileTokenStoreIsReadableByItsOwnerOnly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "session")
	require.NoError(t, os.WriteFile(path, []byte("{}"), 0o644))
	require.NoError(t, dapi.FileTokenStore(path).Save(t.Context(), secretive))
	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.Equal(t, fs.FileMode(0o600), info.Mode(), "also where a laxer file was before")
}

func TestFileTokenStoreErrors(t *testing.T) {
	t.Run("no such directory", func(t *testing.T) {
		store := dapi.FileTokenStore(filepath.Join(t.TempDir(), "none", "session"))
		require.ErrorIs(t, store.Save(t.Context(), secretive), fs.ErrNotExist)
	})
	t.Run("a directory in its place", func(t *testing.T) {
		directory := t.TempDir()
		store := dapi.FileTokenStore(directory)
		_, err := store.Load(t.Context())
		require.Error(t, err)
		require.Error(t, store.Save(t.Context(), secretive))
		left, err := os.ReadDir(filepath.Dir(directory))
		require.NoError(t, err)
		assert.Len(t, left, 1, "nothing is left behind")
	})
	t.Run("garbage", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "session")
		require.NoError(t, os.WriteFile(path, []byte("access-token-of-everything"), 0o600))
		_, err := dapi.FileTokenStore(path).Load(t.Context())
		require.Error(t, err)
		assert.NotContains(t, err.Error(), "of-everything")
	})
}

func TestFileTokenStoreIsReplacedAsAWhole(t *testing.T) {
	directory := t.TempDir()
	path := filepath.Join(directory, "session")
	short, long := secretive, secretive
	long.AccessToken = moneymovement.NewSecret(strings.Repeat("long", 2_500))
	require.NoError(t, dapi.FileTokenStore(path).Save(t.Context(), short))

	var processes sync.WaitGroup
	for i := range 16 {
		processes.Go(func() {
			store := dapi.FileTokenStore(path) // each process has its own
			for range 10 {
				session := short
				if i%2 == 0 {
					session = long
				}
				assert.NoError(t, store.Save(t.Context(), session))
				got, err := store.Load(t.Context())
				assert.NoError(t, err)
				assert.True(t, got.AccessToken.Equal(short.AccessToken) || got.AccessToken.Equal(long.AccessToken), "one session or the other")
			}
		})
	}
	processes.Wait()
	left, err := os.ReadDir(directory)
	require.NoError(t, err)
	assert.Len(t, left, 1, "no temporary file is left behind")
}
