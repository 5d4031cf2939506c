//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package dapi

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Any number of processes read a session at a time, and one writes it alone.
func TestReadersShareAFileAndWritersDoNot(t *testing.T) {
	path := filepath.Join(t.TempDir(), "session")
	require.NoError(t, FileTokenStore(path).Save(t.Context(), sessionOfToken("first")))
	reader, err := openLocked(path, os.O_RDONLY)
	require.NoError(t, err)
	another, err := openLocked(path, os.O_RDONLY)
	require.NoError(t, err)
	_, err = openLocked(path, os.O_RDWR)
	require.ErrorIs(t, err, errInUse)
	require.NoError(t, reader.Close())
	require.NoError(t, another.Close())

	writer, err := openLocked(path, os.O_RDWR)
	require.NoError(t, err)
	for _, flag := range []int{os.O_RDONLY, os.O_RDWR} {
		_, err = openLocked(path, flag)
		require.ErrorIs(t, err, errInUse)
	}
	require.NoError(t, writer.Close())
}

// A file that another process removes or replaces before the lock is another file by then, and is opened anew.
func TestFileThatIsReplacedBeforeItsLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "session")
	for name, replace := range map[string]func() error{
		"removed":  func() error { return os.Remove(path) },
		"replaced": func() error { return os.Rename(path+".new", path) },
	} {
		for _, made := range []string{path, path + ".new"} {
			require.NoError(t, os.WriteFile(made, nil, 0o600))
		}
		file, err := openFile(path, os.O_RDWR)
		require.NoError(t, err)
		require.NoError(t, replace())
		require.ErrorIs(t, lock(file, os.O_RDWR), errInUse, name)
		require.NoError(t, file.Close())
	}
}

// Each Save and Load closes what it opened, also when it fails: a program renews its session for years.
func TestNoFileOfASessionStaysOpen(t *testing.T) {
	folder := t.TempDir()
	store := FileTokenStore(filepath.Join(folder, "session"))
	foreign := filepath.Join(folder, "garbage")
	open := func() int {
		files, err := os.ReadDir("/dev/fd")
		require.NoError(t, err)
		return len(files)
	}
	before := open()
	for range 20 {
		require.NoError(t, store.Save(t.Context(), sessionOfToken("token")))
		_, err := store.Load(t.Context())
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(foreign, []byte("no session"), 0o600))
		_, err = FileTokenStore(foreign).Load(t.Context())
		require.Error(t, err)
		require.NoError(t, FileTokenStore(foreign).Save(t.Context(), sessionOfToken("token")))
		_, err = FileTokenStore(folder).Load(t.Context())
		require.Error(t, err)
	}
	assert.InDelta(t, before, open(), 5)
}
