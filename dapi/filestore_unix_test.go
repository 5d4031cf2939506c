//go:build unix

package dapi_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/dapi"
)

// keptIn saves a session to a file of a folder, and returns the file's path.
func keptIn(t *testing.T, folder string) (string, dapi.TokenStore) {
	t.Helper()
	path := filepath.Join(folder, "session")
	store := dapi.NewFileTokenStore(path)
	requireKept(t, store)
	return path, store
}

func TestSessionFileThatOthersReach(t *testing.T) {
	for mode, reason := range map[fs.FileMode]string{
		0o620: "other users can write to it", 0o602: "other users can write to it",
		0o666: "other users can write to it",
		0o640: "other users can read it: run chmod 600", 0o604: "other users can read it: run chmod 600",
		0o611: "other users can read it",
	} {
		t.Run(mode.String(), func(t *testing.T) {
			path, store := keptIn(t, t.TempDir())
			require.NoError(t, os.Chmod(path, mode))
			none, err := store.Load(t.Context())
			require.ErrorContains(t, err, reason)
			assert.Equal(t, dapi.Session{}, none)
			assert.NotContains(t, err.Error(), "of-everything")

			reader, err := os.Open(path) // of the laxer time
			require.NoError(t, err)
			defer reader.Close()
			before, err := reader.Stat()
			require.NoError(t, err)
			requireKept(t, store)
			after, err := os.Stat(path)
			require.NoError(t, err)
			assert.False(t, os.SameFile(before, after), "who has the old file open does not see what is saved later")
			assert.Equal(t, fs.FileMode(0o600), after.Mode())
		})
	}
}

func TestSessionFileOfAnotherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root, since only root can give a file to another user; make " +
			"test as root runs it, and TestFileOwners checks the same rule for the user at hand")
	}
	path, store := keptIn(t, t.TempDir())
	require.NoError(t, os.Chown(path, 12345, -1))
	_, err := store.Load(t.Context())
	require.ErrorContains(t, err, "belongs to another user")
	require.ErrorContains(t, store.Save(t.Context(), secretive), "belongs to another user")
}

func TestFolderInWhichEverybodyCanReplaceTheSession(t *testing.T) {
	for name, lax := range map[string]string{"its own": "outer/inner", "one above": "outer"} {
		t.Run(name, func(t *testing.T) {
			top := t.TempDir()
			inner := filepath.Join(top, "outer", "inner")
			require.NoError(t, os.MkdirAll(inner, 0o700))
			_, store := keptIn(t, inner)
			require.NoError(t, os.Chmod(filepath.Join(top, lax), 0o777))
			_, err := store.Load(t.Context())
			require.ErrorContains(t, err, filepath.Join(top, lax)+": every user can replace files in this folder")
			require.ErrorContains(t, store.Save(t.Context(), secretive), "every user can replace")

			require.NoError(t, os.Chmod(filepath.Join(top, lax), 0o777|fs.ModeSticky))
			requireKept(t, store)
		})
	}
	t.Run("where a link leads", func(t *testing.T) {
		lax, top := t.TempDir(), t.TempDir()
		path, _ := keptIn(t, lax)
		require.NoError(t, os.Chmod(lax, 0o777))
		link := filepath.Join(top, "session")
		require.NoError(t, os.Symlink(path, link))
		_, err := dapi.NewFileTokenStore(link).Load(t.Context())
		require.ErrorContains(t, err, "every user can replace")
	})
}

func TestNoFileIsMadeInAFolderOfEverybody(t *testing.T) {
	lax := t.TempDir()
	require.NoError(t, os.Chmod(lax, 0o777))
	path := filepath.Join(lax, "session")
	require.ErrorContains(t, dapi.NewFileTokenStore(path).Save(t.Context(), secretive), "every user can replace")
	assert.NoFileExists(t, path)
}

// A volume of Kubernetes shows each file as a link through a folder that is a link itself.
func TestSessionFileBehindLinks(t *testing.T) {
	top := t.TempDir()
	data := filepath.Join(top, "..2026_01_01")
	require.NoError(t, os.Mkdir(data, 0o700))
	target, _ := keptIn(t, data)
	require.NoError(t, os.Symlink(filepath.Base(data), filepath.Join(top, "..data")))
	link := filepath.Join(top, "session")
	require.NoError(t, os.Symlink("..data/session", link))

	store := dapi.NewFileTokenStore(link)
	got, err := store.Load(t.Context())
	require.NoError(t, err)
	assert.Equal(t, exported(t, secretive), exported(t, got))
	requireKept(t, store)
	info, err := os.Lstat(link)
	require.NoError(t, err)
	assert.Equal(t, fs.ModeSymlink, info.Mode().Type(), "the link stays")
	info, err = os.Lstat(target)
	require.NoError(t, err)
	assert.True(t, info.Mode().IsRegular())
}

// A link that leads to something else of the user's does not have it overwritten.
func TestLinkToWhatIsNoSession(t *testing.T) {
	top := t.TempDir()
	other := filepath.Join(top, "notes")
	require.NoError(t, os.WriteFile(other, []byte("of great worth"), 0o600))
	link := filepath.Join(top, "session")
	require.NoError(t, os.Symlink(other, link))
	requireKept(t, dapi.NewFileTokenStore(link))
	kept, err := os.ReadFile(other)
	require.NoError(t, err)
	assert.Equal(t, "of great worth", string(kept))
}

func TestLinkToNothingIsNotFollowed(t *testing.T) {
	top := t.TempDir()
	link := filepath.Join(top, "session")
	require.NoError(t, os.Symlink(filepath.Join(top, "elsewhere"), link))
	require.ErrorIs(t, dapi.NewFileTokenStore(link).Save(t.Context(), secretive), fs.ErrExist)
	assert.NoFileExists(t, filepath.Join(top, "elsewhere"))
}

func TestPipeInPlaceOfASessionFileIsNotWaitedFor(t *testing.T) {
	path := filepath.Join(t.TempDir(), "session")
	require.NoError(t, syscall.Mkfifo(path, 0o600))
	store := dapi.NewFileTokenStore(path)
	_, err := store.Load(t.Context())
	require.ErrorContains(t, err, "not a regular file")
	require.ErrorContains(t, store.Save(t.Context(), secretive), "not a regular file")
}
