package dapi

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
)

// disk is what a file that is being written meets.
type disk struct {
	full, broken, gone error // of writing, syncing and closing

	file   *os.File
	path   string // of the session
	synced []byte // what is safe from a crash
	before []byte // what the session's file held then
}

func (d *disk) store(path string) TokenStore {
	d.path = path
	return fileTokenStore{path: path, create: func(directory string) (temporaryFile, error) {
		file, err := os.CreateTemp(directory, ".session-*")
		d.file = file
		return d, err
	}}
}

func (d *disk) Name() string { return d.file.Name() }

func (d *disk) Write(data []byte) (int, error) {
	if d.full != nil {
		return 0, d.full
	}
	return d.file.Write(data)
}

func (d *disk) Sync() (err error) {
	if d.broken != nil {
		return d.broken
	}
	if d.before, err = os.ReadFile(d.path); err != nil {
		return err
	}
	d.synced, err = os.ReadFile(d.file.Name())
	return err
}

func (d *disk) Close() error { return errors.Join(d.file.Close(), d.gone) }

// A session takes the old one's place only when all of it has reached the disk: else a crash could leave none.
func TestSessionIsOnDiskBeforeItTakesItsPlace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "session")
	require.NoError(t, FileTokenStore(path).Save(t.Context(), Session{AccessToken: moneymovement.NewSecret("old")}))
	old, err := os.ReadFile(path)
	require.NoError(t, err)

	d := new(disk)
	require.NoError(t, d.store(path).Save(t.Context(), Session{AccessToken: moneymovement.NewSecret("new")}))
	written, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.NotEqual(t, string(old), string(written))
	assert.Equal(t, string(written), string(d.synced), "all of it was synced")
	assert.Equal(t, string(old), string(d.before), "before it took its place")
}

func TestSessionThatDoesNotReachTheDiskLeavesTheOldOne(t *testing.T) {
	failed := errors.New("input/output error")
	for name, d := range map[string]*disk{"writing": {full: failed}, "syncing": {broken: failed}, "closing": {gone: failed}} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "session")
			store := FileTokenStore(path)
			require.NoError(t, store.Save(t.Context(), Session{AccessToken: moneymovement.NewSecret("old")}))

			require.ErrorIs(t, d.store(path).Save(t.Context(), Session{AccessToken: moneymovement.NewSecret("new")}), failed)
			kept, err := store.Load(t.Context())
			require.NoError(t, err)
			assert.Equal(t, "old", kept.AccessToken.Reveal())
			left, err := os.ReadDir(filepath.Dir(path))
			require.NoError(t, err)
			assert.Len(t, left, 1, "nothing is left behind")
		})
	}
}
