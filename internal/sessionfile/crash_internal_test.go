package sessionfile

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// disk is what a file that is being written meets.
type disk struct {
	handle
	path string

	full, broken error // of writing and syncing
	room         int   // for so many bytes, then the machine is off
	crashes, off bool

	safe   []byte // what the last sync put on the disk
	folder string // that was synced, and what was safe then
	before []byte
}

func (d *disk) store(path string) *File {
	return &File{
		path: path,
		open: func(path string, flag int) (handle, error) {
			file, err := openLocked(path, flag)
			d.handle, d.path = file, path
			return d, err
		},
		syncFolder: func(path string) error {
			d.folder, d.before = path, d.safe
			return nil
		},
	}
}

var errOff = errors.New("the machine is off")

func (d *disk) WriteAt(data []byte, at int64) (n int, err error) {
	switch {
	case d.off:
		return 0, errOff
	case d.full != nil:
		n, _ = d.handle.WriteAt(data[:len(data)/2], at)
		return n, d.full
	case d.crashes && len(data) > d.room:
		d.off = true
		n, _ = d.handle.WriteAt(data[:d.room], at)
		return n, errOff
	}
	return d.handle.WriteAt(data, at)
}

func (d *disk) Sync() (err error) {
	if d.broken != nil {
		return d.broken
	}
	d.safe, err = os.ReadFile(d.path)
	return err
}

func TestSaveSyncsFileAndFolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "session")
	d := new(disk)
	for _, token := range []string{"first", "second", "third"} {
		require.NoError(t, d.store(path).Save(t.Context(), []byte(token)))
		written, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.Contains(t, string(written), token)
		assert.Equal(t, string(written), string(d.safe), "all of it was synced")
		assert.Equal(t, filepath.Dir(path), d.folder, "and the folder, which holds its name")
		assert.Equal(t, string(d.safe), string(d.before), "after it")
		kept, err := New(path).Load(t.Context())
		require.NoError(t, err)
		assert.Equal(t, token, string(kept))
	}
}

func TestFailedWriteLeavesTheOldSession(t *testing.T) {
	failed := errors.New("input/output error")
	for name, d := range map[string]*disk{"writing": {full: failed}, "syncing": {broken: failed}} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "session")
			store := New(path)
			require.NoError(t, store.Save(t.Context(), []byte("old")))

			require.ErrorIs(t, d.store(path).Save(t.Context(), []byte("new")), failed)
			kept, err := store.Load(t.Context())
			require.NoError(t, err)
			assert.Equal(t, "old", string(kept))
			left, err := os.ReadDir(filepath.Dir(path))
			require.NoError(t, err)
			assert.Len(t, left, 1, "nothing is left behind")
		})
	}
}

// If the machine goes off at any byte of a write, the file still has the session from before, and the next save
// replaces it.
func TestCrashDuringWriteLeavesTheOldSession(t *testing.T) {
	path := filepath.Join(t.TempDir(), "session")
	store := New(path)
	for room := 0; ; room++ {
		old := []byte("old" + strings.Repeat("o", room))
		require.NoError(t, store.Save(t.Context(), old))
		d := &disk{crashes: true, room: room}
		err := d.store(path).Save(t.Context(), []byte("new"))
		if err == nil {
			require.Greater(t, room, slotHeader, "a whole write")
			return
		}
		require.ErrorIs(t, err, errOff)
		kept, err := store.Load(t.Context())
		require.NoError(t, err)
		require.Equal(t, string(old), string(kept), room)
	}
}

func TestCrashDuringFirstWrite(t *testing.T) {
	for room := range slotHeader + 10 {
		path := filepath.Join(t.TempDir(), "session")
		store := (&disk{crashes: true, room: room}).store(path)
		require.ErrorIs(t, store.Save(t.Context(), []byte("more than ten bytes")), errOff)
		none, err := New(path).Load(t.Context())
		require.Nil(t, none)
		if room > 0 {
			require.ErrorIs(t, err, errDamaged)
		}
		require.NoError(t, New(path).Save(t.Context(), []byte("next")))
		kept, err := New(path).Load(t.Context())
		require.NoError(t, err)
		require.Equal(t, "next", string(kept))
	}
}

func TestWaitForTheLockEndsWithTheContext(t *testing.T) {
	path := filepath.Join(t.TempDir(), "session")
	store := New(path)
	require.NoError(t, store.Save(t.Context(), []byte("old")))
	other, err := openLocked(path, os.O_RDWR)
	require.NoError(t, err)

	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = store.Load(ended)
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorIs(t, store.Save(ended, []byte("new")), context.Canceled)

	require.NoError(t, other.Close())
	kept, err := store.Load(t.Context())
	require.NoError(t, err)
	assert.Equal(t, "old", string(kept))
}

// The longest session fits into both slots of the file.
func TestLongestSessionFits(t *testing.T) {
	store := New(filepath.Join(t.TempDir(), "session"))
	longest := bytes.Repeat([]byte("c"), maxStored)
	for range 3 {
		require.NoError(t, store.Save(t.Context(), longest))
		kept, err := store.Load(t.Context())
		require.NoError(t, err)
		require.Equal(t, longest, kept)
	}
	require.ErrorIs(t, store.Save(t.Context(), append(longest, 'c')), errTooLong)
}
