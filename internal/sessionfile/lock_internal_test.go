//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package sessionfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Many processes can read a session at the same time, and only one can write it.
func TestReadersShareTheLockAndWritersDoNot(t *testing.T) {
	path := filepath.Join(t.TempDir(), "session")
	require.NoError(t, New(path).Save(t.Context(), []byte("first")))
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

// If another process removes or replaces the file before the lock, the file is opened again.
func TestFileThatIsReplacedBeforeItsLockIsReopened(t *testing.T) {
	path := filepath.Join(t.TempDir(), "session")
	for name, replace := range map[string]func() error{
		"removed":  func() error { return os.Remove(path) },
		"replaced": func() error { return os.Rename(path+".new", path) },
	} {
		for _, name := range []string{path, path + ".new"} {
			require.NoError(t, os.WriteFile(name, nil, 0o600))
		}
		file, err := openFile(path, os.O_RDWR)
		require.NoError(t, err)
		require.NoError(t, replace())
		require.ErrorIs(t, lock(file, os.O_RDWR), errInUse, name)
		require.NoError(t, file.Close())
	}
}

// Each Save and Load closes what it opened, also when it fails: a program renews its session for years.
func TestLoadAndSaveCloseTheirFiles(t *testing.T) {
	folder := t.TempDir()
	store := New(filepath.Join(folder, "session"))
	foreign := filepath.Join(folder, "garbage")
	before := openFiles(t)
	for range 20 {
		require.NoError(t, store.Save(t.Context(), []byte("token")))
		_, err := store.Load(t.Context())
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(foreign, []byte("no session"), 0o600))
		_, err = New(foreign).Load(t.Context())
		require.Error(t, err)
		require.Error(t, New(foreign).Save(t.Context(), []byte("token")))
		_, err = New(folder).Load(t.Context())
		require.Error(t, err)
	}
	assert.InDelta(t, before, openFiles(t), 5)
}

func openFiles(t *testing.T) int {
	t.Helper()
	files, err := os.ReadDir("/dev/fd")
	require.NoError(t, err)
	return len(files)
}

// The wait for a file that another process has locked ends after ten seconds.
func TestWaitForTheLockTimesOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "session")
		require.NoError(t, New(path).Save(t.Context(), []byte("token")))
		other, err := openLocked(path, os.O_RDWR)
		require.NoError(t, err)
		defer other.Close()
		before, began := openFiles(t), time.Now()
		_, err = New(path).Load(t.Context())
		require.ErrorIs(t, err, errInUse)
		require.ErrorContains(t, err, path)
		assert.InDelta(t, 10, time.Since(began).Seconds(), 0.1)
		assert.InDelta(t, before, openFiles(t), 5, "no try leaves a file open")
	})
}

// unknowable is a file that cannot be looked at.
type unknowable struct{ handle }

func (unknowable) Stat() (fs.FileInfo, error) { return nil, syscall.EIO }

func TestFileThatCannotBeStatted(t *testing.T) {
	store := &File{path: filepath.Join(t.TempDir(), "session"),
		open: func(path string, flag int) (handle, error) {
			file, err := openLocked(path, flag|os.O_CREATE)
			return unknowable{file}, err
		}}
	_, err := store.Load(t.Context())
	require.ErrorIs(t, err, syscall.EIO)
}

// A file that cannot be locked fails at once, without a wait.
func TestFileThatCannotBeLocked(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs O_PATH, a flag that only Linux has, to open a file that " +
			"cannot be locked; make test on Linux runs it")
	}
	const nameAlone = 0o10000000 // O_PATH
	file, err := openFile(t.TempDir()+"/session", os.O_RDWR|os.O_CREATE)
	require.NoError(t, err)
	require.NoError(t, file.Close())
	file, err = openFile(file.Name(), nameAlone)
	require.NoError(t, err)
	defer file.Close()
	err = lock(file, os.O_RDWR)
	require.ErrorIs(t, err, syscall.EBADF)
	assert.ErrorContains(t, err, "flock")
}

// A file that another process creates in the meantime is used.
func TestFileThatAnotherProcessCreatesIsUsed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "session")
	require.NoError(t, New(path).Save(t.Context(), []byte("theirs")))
	calls := 0
	store := &File{path: path, syncFolder: syncFolder, open: func(path string, flag int) (handle, error) {
		switch calls++; calls {
		case 1:
			return nil, fs.ErrNotExist
		case 2:
			return nil, fs.ErrExist
		}
		return openLocked(path, flag)
	}}
	require.NoError(t, store.Save(t.Context(), []byte("ours")))
	kept, err := store.Load(t.Context())
	require.NoError(t, err)
	assert.Equal(t, "ours", string(kept))
}

// The owner of a session's file must be the user of the process or root.
func TestFileOwnersOfAnotherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root, because only root can become another user; make test " +
			"as root runs it, and TestFileOwners checks the same rule for the present user")
	}
	require.NoError(t, syscall.Seteuid(12345))
	defer func() { require.NoError(t, syscall.Seteuid(0)) }()
	TestFileOwners(t)
}

// A relative path cannot be resolved in a folder that was removed.
func TestRelativePathFromARemovedFolder(t *testing.T) {
	gone := t.TempDir() + "/gone"
	require.NoError(t, os.Mkdir(gone, 0o700))
	t.Chdir(gone)
	require.NoError(t, os.Remove(gone))
	require.Error(t, checkFolders("session"))
}

// ownedFile describes a regular file of a user.
type ownedFile struct{ uid uint32 }

func (ownedFile) Name() string       { return "session" }
func (ownedFile) Size() int64        { return 0 }
func (ownedFile) Mode() fs.FileMode  { return 0o600 }
func (ownedFile) ModTime() time.Time { return time.Time{} }
func (ownedFile) IsDir() bool        { return false }
func (f ownedFile) Sys() any         { return &syscall.Stat_t{Uid: f.uid} }

func TestFileOwners(t *testing.T) {
	own := uint32(os.Geteuid())
	assert.NoError(t, checkFile(ownedFile{own}))
	assert.NoError(t, checkFile(ownedFile{0}), "root's")
	assert.ErrorIs(t, checkFile(ownedFile{own + 1}), errForeign)
}

// syncing is a folder that syncs with an error, or none.
type syncing struct {
	err error
	did int
}

func (s *syncing) Sync() error { s.did++; return s.err }

func TestFileSystemsThatCannotSyncFolders(t *testing.T) {
	for said, want := range map[error]error{nil: nil, syscall.EINVAL: nil, errors.ErrUnsupported: nil,
		syscall.EIO: syscall.EIO} {
		folder := &syncing{err: said}
		require.ErrorIs(t, synced(folder), want)
		assert.Equal(t, 1, folder.did)
	}
}

func TestFolderThatCannotBeSynced(t *testing.T) {
	require.NoError(t, syncFolder(t.TempDir()))
	require.ErrorIs(t, syncFolder(filepath.Join(t.TempDir(), "none")), fs.ErrNotExist)
	if runtime.GOOS == "linux" {
		require.NoError(t, syncFolder("/proc"), "a file system that syncs no folders")
	}
}

func TestCircularLinksAreRefused(t *testing.T) {
	folder := t.TempDir()
	one, other := filepath.Join(folder, "one"), filepath.Join(folder, "other")
	require.NoError(t, os.Symlink(one, other))
	require.NoError(t, os.Symlink(other, one))
	require.Error(t, checkFolders(one))
	require.ErrorIs(t, checkFolders(filepath.Join(folder, "none", "session")), fs.ErrNotExist)
}
