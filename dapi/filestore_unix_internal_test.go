//go:build unix

package dapi

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

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

func TestFileSystemsThatSyncNoFolders(t *testing.T) {
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

func TestLinksThatLeadInACircle(t *testing.T) {
	folder := t.TempDir()
	one, other := filepath.Join(folder, "one"), filepath.Join(folder, "other")
	require.NoError(t, os.Symlink(one, other))
	require.NoError(t, os.Symlink(other, one))
	require.Error(t, checkFolders(one))
	require.ErrorIs(t, checkFolders(filepath.Join(folder, "none", "session")), fs.ErrNotExist)
}
