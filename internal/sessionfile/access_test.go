//go:build unix

package sessionfile_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/internal/sessionfile"
)

// keptIn saves a session to a file of a folder, and returns the file's path.
func keptIn(t *testing.T, folder string) (string, *sessionfile.File) {
	t.Helper()
	path := filepath.Join(folder, "session")
	store := sessionfile.New(path)
	requireKept(t, store)
	return path, store
}

func TestSessionFileThatOtherUsersCanReadOrWriteIsRefused(t *testing.T) {
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
			assert.Nil(t, none)
			assert.NotContains(t, err.Error(), "of-everything")

			before, err := os.Stat(path)
			require.NoError(t, err)
			require.ErrorContains(t, store.Save(t.Context(), secret), reason,
				"who has the file open would see what is saved")
			after, err := os.Stat(path)
			require.NoError(t, err)
			assert.True(t, os.SameFile(before, after))
			assert.Equal(t, mode, after.Mode())
		})
	}
}

func TestSessionFileOfAnotherUserIsRefused(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root, because only root can give a file to another user; make " +
			"test as root runs it, and TestFileOwners checks the same rule for the present user")
	}
	path, store := keptIn(t, t.TempDir())
	require.NoError(t, os.Chown(path, 12345, -1))
	_, err := store.Load(t.Context())
	require.ErrorContains(t, err, "belongs to another user")
	require.ErrorContains(t, store.Save(t.Context(), secret), "belongs to another user")
}

func TestWorldWritableFolderIsRefused(t *testing.T) {
	for name, lax := range map[string]string{"its own": "outer/inner", "one above": "outer"} {
		t.Run(name, func(t *testing.T) {
			top := t.TempDir()
			inner := filepath.Join(top, "outer", "inner")
			require.NoError(t, os.MkdirAll(inner, 0o700))
			_, store := keptIn(t, inner)
			require.NoError(t, os.Chmod(filepath.Join(top, lax), 0o777))
			_, err := store.Load(t.Context())
			require.ErrorContains(t, err, filepath.Join(top, lax)+": every user can replace files in this folder")
			require.ErrorContains(t, store.Save(t.Context(), secret), "every user can replace")

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
		_, err := sessionfile.New(link).Load(t.Context())
		require.ErrorContains(t, err, "every user can replace")
	})
}

func TestNoFileIsCreatedInAWorldWritableFolder(t *testing.T) {
	lax := t.TempDir()
	require.NoError(t, os.Chmod(lax, 0o777))
	path := filepath.Join(lax, "session")
	require.ErrorContains(t, sessionfile.New(path).Save(t.Context(), secret), "every user can replace")
	assert.NoFileExists(t, path)
}

// A volume of Kubernetes shows each file as a link through a folder that is a link itself.
func TestSessionFileBehindSymbolicLinks(t *testing.T) {
	top := t.TempDir()
	data := filepath.Join(top, "..2026_01_01")
	require.NoError(t, os.Mkdir(data, 0o700))
	target, _ := keptIn(t, data)
	require.NoError(t, os.Symlink(filepath.Base(data), filepath.Join(top, "..data")))
	link := filepath.Join(top, "session")
	require.NoError(t, os.Symlink("..data/session", link))

	store := sessionfile.New(link)
	got, err := store.Load(t.Context())
	require.NoError(t, err)
	assert.Equal(t, string(secret), string(got))
	requireKept(t, store)
	info, err := os.Lstat(link)
	require.NoError(t, err)
	assert.Equal(t, fs.ModeSymlink, info.Mode().Type(), "the link stays")
	info, err = os.Lstat(target)
	require.NoError(t, err)
	assert.True(t, info.Mode().IsRegular())
}

// Save keeps a symbolic link and its target, whether the target can hold a session or not.
func TestSymbolicLinkIsNotReplaced(t *testing.T) {
	whole := sessionFile(t)
	for name, tc := range map[string]struct {
		content []byte
		mode    fs.FileMode
		reason  string
	}{
		"to something else": {[]byte("of great worth"), 0o600, "something else than a session"},
		"to what all read":  {whole, 0o644, "other users can read it: run chmod 600 on it"},
		"to what all write": {whole, 0o622, "other users can write to it"},
		"to a damaged one":  {whole[:60], 0o600, ""},
		"to an empty one":   {nil, 0o600, ""},
	} {
		t.Run(name, func(t *testing.T) {
			top := t.TempDir()
			target, link := filepath.Join(top, "target"), filepath.Join(top, "session")
			require.NoError(t, os.WriteFile(target, tc.content, 0o600))
			require.NoError(t, os.Chmod(target, tc.mode))
			require.NoError(t, os.Symlink("target", link))
			store := sessionfile.New(link)
			if tc.reason == "" {
				requireKept(t, store)
			} else {
				require.ErrorContains(t, store.Save(t.Context(), secret), tc.reason)
				kept, err := os.ReadFile(target)
				require.NoError(t, err)
				assert.True(t, bytes.Equal(tc.content, kept))
			}
			leads, err := os.Readlink(link)
			require.NoError(t, err)
			assert.Equal(t, "target", leads)
			info, err := os.Stat(target)
			require.NoError(t, err)
			assert.Equal(t, tc.mode, info.Mode())
		})
	}
}

func TestDanglingLinkIsNotFollowed(t *testing.T) {
	top := t.TempDir()
	link := filepath.Join(top, "session")
	require.NoError(t, os.Symlink(filepath.Join(top, "elsewhere"), link))
	require.ErrorIs(t, sessionfile.New(link).Save(t.Context(), secret), fs.ErrExist)
	assert.NoFileExists(t, filepath.Join(top, "elsewhere"))
}

func TestNamedPipeIsRefusedAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "session")
	require.NoError(t, syscall.Mkfifo(path, 0o600))
	store := sessionfile.New(path)
	_, err := store.Load(t.Context())
	require.ErrorContains(t, err, "not a regular file")
	require.ErrorContains(t, store.Save(t.Context(), secret), "not a regular file")
}
