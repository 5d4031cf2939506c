//go:build !wasm

package bolt_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"

	"github.com/moneymovement/moneymovement-go/sandbox/bolt"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/store"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/store/storetest"
)

func TestFilePermissions(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no such modes")
	}
	path := filepath.Join(t.TempDir(), "new", "folder", "host.db")
	kept, err := bolt.Open(path)
	require.NoError(t, err)
	require.NoError(t, kept.Close())
	mode := func(path string) os.FileMode {
		info, err := os.Stat(path)
		require.NoError(t, err)
		return info.Mode().Perm()
	}
	assert.Equal(t, os.FileMode(0o600), mode(path))
	assert.Equal(t, os.FileMode(0o700), mode(filepath.Dir(path)))

	require.NoError(t, os.Chmod(path, 0o644)) // as a copy may have it
	open(t, path)
	assert.Equal(t, os.FileMode(0o600), mode(path))
}

func TestSecondOpenIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "host.db")
	kept, err := bolt.Open(path)
	require.NoError(t, err)
	_, err = bolt.Open(path)
	var busy *bolt.InUse
	require.ErrorAs(t, err, &busy)
	assert.Equal(t, path, busy.Path)
	assert.ErrorContains(t, err, "another process has "+path+" open")
	require.NoError(t, kept.Close())
	open(t, path)
}

// database creates a file with bbolt directly.
func database(t *testing.T, change func(*bbolt.Tx) error) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "host.db")
	db, err := bbolt.Open(path, 0o600, nil)
	require.NoError(t, err)
	require.NoError(t, db.Update(change))
	require.NoError(t, db.Close())
	return path
}

// head writes the version of a store.
func head(version string) func(*bbolt.Tx) error {
	return func(tx *bbolt.Tx) error {
		bucket, err := tx.CreateBucketIfNotExists([]byte("moneymovement sandbox"))
		if err != nil {
			return err
		}
		return bucket.Put([]byte("version"), []byte(version))
	}
}

func TestOtherFilesAreRefusedAndUnchanged(t *testing.T) {
	text := filepath.Join(t.TempDir(), "host.db")
	require.NoError(t, os.WriteFile(text, bytes.Repeat([]byte("a line of text\n"), 2000), 0o600))
	short := filepath.Join(t.TempDir(), "host.db")
	require.NoError(t, os.WriteFile(short, []byte("short"), 0o600))
	for name, path := range map[string]string{
		"a text": text, "a short text": short,
		"a database of another program": database(t, func(tx *bbolt.Tx) error {
			_, err := tx.CreateBucket([]byte("theirs"))
			return err
		}),
	} {
		t.Run(name, func(t *testing.T) {
			before, err := os.ReadFile(path)
			require.NoError(t, err)
			_, err = bolt.Open(path)
			var foreign *bolt.NotAStore
			require.ErrorAs(t, err, &foreign)
			assert.ErrorContains(t, err, "is not a store of a sandbox host")
			after, err := os.ReadFile(path)
			require.NoError(t, err)
			assert.True(t, bytes.Equal(before, after))
		})
	}
}

func TestNewerFileVersionIsRefused(t *testing.T) {
	path := database(t, head("2"))
	_, err := bolt.Open(path)
	var newer *bolt.Newer
	require.ErrorAs(t, err, &newer)
	assert.Equal(t, bolt.Newer{Path: path, Version: 2, Known: 1}, *newer)
	assert.ErrorContains(t, err, "use the later version of the program")
}

func TestFolderPathIsRefused(t *testing.T) {
	folder := t.TempDir()
	_, err := bolt.Open(folder)
	assert.ErrorContains(t, err, "cannot open "+folder)
	_, err = bolt.Open(filepath.Join(database(t, head("1")), "host.db"))
	assert.ErrorContains(t, err, "cannot make the folder")
}

// A process that ends while it creates the file leaves one of these.
func TestUnfinishedFileIsInitialized(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "host.db")
	require.NoError(t, os.WriteFile(empty, nil, 0o600))
	for _, path := range []string{empty, database(t, func(*bbolt.Tx) error { return nil })} {
		kept := open(t, path)
		assert.NoError(t, kept.Commit([]store.Change{store.Put("note", "a", &note{"1"})}))
	}
}

// filled returns a file with many pages of records.
func filled(t *testing.T) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "host.db")
	kept, err := bolt.Open(path)
	require.NoError(t, err)
	for range 3 {
		var changes []store.Change
		for i := range 500 {
			changes = append(changes, store.Put("note", string(rune('a'+i)), &note{strings.Repeat("word ", 50)}))
		}
		require.NoError(t, kept.Commit(changes))
	}
	require.NoError(t, kept.Close())
	return path
}

// read opens a file and reads all records.
func read(path string) (records int, err error) {
	kept, err := bolt.Open(path)
	if err != nil {
		return 0, err
	}
	defer func() { _ = kept.Close() }()
	err = kept.Load("note", func(string, []byte) error { records++; return nil })
	return records, err
}

func TestDamagedFileReturnsError(t *testing.T) {
	whole, err := os.ReadFile(filled(t))
	require.NoError(t, err)
	page := os.Getpagesize()
	damaged, foreign := new(*bolt.Damaged), new(*bolt.NotAStore)
	for name, test := range map[string]struct {
		damage func([]byte) []byte
		want   any
	}{
		"cut to six pages":  {func(file []byte) []byte { return file[:6*page] }, damaged},
		"cut to a page":     {func(file []byte) []byte { return file[:page+1] }, damaged},
		"cut to four pages": {func(file []byte) []byte { return file[:4*page] }, damaged},
		"without its first pages": {func(file []byte) []byte {
			clear(file[16:80])
			clear(file[page+16 : page+80])
			return file
		}, foreign},
		"with zeros from the third page on": {func(file []byte) []byte {
			clear(file[2*page:])
			return file
		}, damaged},
		"with a version that is not a number": {func([]byte) []byte {
			file, err := os.ReadFile(database(t, head("one")))
			require.NoError(t, err)
			return file
		}, damaged},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "host.db")
			require.NoError(t, os.WriteFile(path, test.damage(bytes.Clone(whole)), 0o600))
			_, err := read(path)
			require.ErrorAs(t, err, test.want)
			assert.ErrorContains(t, err, path)
		})
	}
}

// TestFlippedBits changes one byte of a record at a time. Load returns the original record or an error.
func TestFlippedBits(t *testing.T) {
	whole, err := os.ReadFile(filled(t))
	require.NoError(t, err)
	want, err := read(filled(t))
	require.NoError(t, err)
	require.Equal(t, 500, want)
	found := 0
	path := filepath.Join(t.TempDir(), "host.db")
	for at := len(whole) / 3; at < len(whole); at += len(whole) / 60 {
		changed := bytes.Clone(whole)
		changed[at] ^= 0x10
		require.NoError(t, os.WriteFile(path, changed, 0o600))
		records, err := read(path)
		if err != nil {
			found++
			continue
		}
		assert.Equal(t, want, records, at) // the byte is in a free page
	}
	assert.Positive(t, found)
}

// newStore returns a store in a new file, which is closed at the end of the test.
func newStore(t *testing.T) *bolt.Store {
	t.Helper()
	return open(t, filepath.Join(t.TempDir(), "host.db"))
}

func open(t *testing.T, path string) *bolt.Store {
	t.Helper()
	kept, err := bolt.Open(path)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, kept.Close()) })
	return kept
}

func TestStoreConforms(t *testing.T) {
	storetest.Conforms(t, func(t *testing.T) store.Store { return newStore(t) })
}

func TestStorePersists(t *testing.T) {
	storetest.Lasts(t, func(t *testing.T) store.Store { return newStore(t) })
}

type note struct{ Text string }

// More records than Load reads at a time, and a deleted record at the end of a batch.
func TestLoadKeepsOrderOfManyRecords(t *testing.T) {
	path := filepath.Join(t.TempDir(), "host.db")
	kept, err := bolt.Open(path)
	require.NoError(t, err)
	var changes []store.Change
	var want []string
	for i := range 3000 {
		id := fmt.Sprint(7919 * i % 3000)
		changes = append(changes, store.Put("note", id, &note{id}))
		if i == 1023 || i == 1024 || i == 2999 {
			changes = append(changes, store.Deleted("note", id))
			continue
		}
		want = append(want, id)
	}
	require.NoError(t, kept.Commit(changes))
	require.NoError(t, kept.Close())

	var found []string
	require.NoError(t, open(t, path).Load("note", func(id string, encoded []byte) error {
		assert.Equal(t, `{"Text":"`+id+`"}`, string(encoded))
		found = append(found, id)
		return nil
	}))
	assert.Equal(t, want, found)
}

// bbolt limits the length of keys. A record with a longer id is refused, and the store continues to work.
func TestTooLongIDIsRefused(t *testing.T) {
	kept := newStore(t)
	long := string(make([]byte, 40_000))
	require.ErrorContains(t, kept.Commit([]store.Change{
		store.Put("note", "a", &note{"1"}), store.Put("note", long, &note{"2"}),
	}), "key too large")
	require.NoError(t, kept.Load("note", func(id string, _ []byte) error { return fmt.Errorf("found %s", id) }))
	require.NoError(t, kept.Commit([]store.Change{store.Put("note", "a", &note{"1"})}))
}

func TestClosedStoreRefusesCommit(t *testing.T) {
	kept, err := bolt.Open(filepath.Join(t.TempDir(), "host.db"))
	require.NoError(t, err)
	require.NoError(t, kept.Close())
	require.NoError(t, kept.Close(), "a second time")
	assert.ErrorContains(t, kept.Commit([]store.Change{store.Put("note", "a", &note{"1"})}), "not open")
	assert.ErrorContains(t, kept.Load("note", func(string, []byte) error { return nil }), "not open")
}
