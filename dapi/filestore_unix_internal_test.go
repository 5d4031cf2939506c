//go:build unix

package dapi

import (
	"io/fs"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
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
