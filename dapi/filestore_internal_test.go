package dapi

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
)

// disk is what a file that is being written meets.
type disk struct {
	sessionFile
	path string

	full, broken error // of writing and syncing
	room         int   // for so many bytes, then the machine is off
	crashes, off bool

	safe   []byte // what the last sync put on the disk
	folder string // that was synced, and what was safe then
	before []byte
}

func (d *disk) store(path string) TokenStore {
	return fileTokenStore{
		path: path,
		open: func(path string, flag int) (sessionFile, error) {
			file, err := openLocked(path, flag)
			d.sessionFile, d.path = file, path
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
		n, _ = d.sessionFile.WriteAt(data[:len(data)/2], at)
		return n, d.full
	case d.crashes && len(data) > d.room:
		d.off = true
		n, _ = d.sessionFile.WriteAt(data[:d.room], at)
		return n, errOff
	}
	return d.sessionFile.WriteAt(data, at)
}

func (d *disk) Sync() (err error) {
	if d.broken != nil {
		return d.broken
	}
	d.safe, err = os.ReadFile(d.path)
	return err
}

func sessionOfToken(token string) Session {
	return Session{AccessToken: moneymovement.NewSecret(token), Credential: "c"}
}

func TestSessionIsOnDiskWhenItIsSaved(t *testing.T) {
	path := filepath.Join(t.TempDir(), "session")
	d := new(disk)
	for _, token := range []string{"first", "second", "third"} {
		require.NoError(t, d.store(path).Save(t.Context(), sessionOfToken(token)))
		written, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.Contains(t, string(written), token)
		assert.Equal(t, string(written), string(d.safe), "all of it was synced")
		assert.Equal(t, filepath.Dir(path), d.folder, "and the folder, which holds its name")
		assert.Equal(t, string(d.safe), string(d.before), "after it")
		kept, err := NewFileTokenStore(path).Load(t.Context())
		require.NoError(t, err)
		assert.Equal(t, token, kept.AccessToken.Reveal())
	}
}

func TestSessionThatDoesNotReachTheDiskLeavesTheOldOne(t *testing.T) {
	failed := errors.New("input/output error")
	for name, d := range map[string]*disk{"writing": {full: failed}, "syncing": {broken: failed}} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "session")
			store := NewFileTokenStore(path)
			require.NoError(t, store.Save(t.Context(), sessionOfToken("old")))

			require.ErrorIs(t, d.store(path).Save(t.Context(), sessionOfToken("new")), failed)
			kept, err := store.Load(t.Context())
			require.NoError(t, err)
			assert.Equal(t, "old", kept.AccessToken.Reveal())
			left, err := os.ReadDir(filepath.Dir(path))
			require.NoError(t, err)
			assert.Len(t, left, 1, "nothing is left behind")
		})
	}
}

// A machine that goes off at any byte of a write leaves the session before, which the next save replaces.
func TestSessionThatIsWrittenInPart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "session")
	store := NewFileTokenStore(path)
	for room := 0; ; room++ {
		old := sessionOfToken("old" + strings.Repeat("o", room))
		require.NoError(t, store.Save(t.Context(), old))
		d := &disk{crashes: true, room: room}
		err := d.store(path).Save(t.Context(), sessionOfToken("new"))
		if err == nil {
			require.Greater(t, room, slotHeader, "a whole write")
			return
		}
		require.ErrorIs(t, err, errOff)
		kept, err := store.Load(t.Context())
		require.NoError(t, err)
		require.Equal(t, old.AccessToken.Reveal(), kept.AccessToken.Reveal(), room)
	}
}

func TestFirstSessionThatIsWrittenInPart(t *testing.T) {
	for room := range slotHeader + 10 {
		path := filepath.Join(t.TempDir(), "session")
		require.ErrorIs(t, (&disk{crashes: true, room: room}).store(path).Save(t.Context(), sessionOfToken("new")),
			errOff)
		none, err := NewFileTokenStore(path).Load(t.Context())
		require.Equal(t, Session{}, none)
		if room > 0 {
			require.ErrorIs(t, err, errDamaged)
		}
		require.NoError(t, NewFileTokenStore(path).Save(t.Context(), sessionOfToken("next")))
		kept, err := NewFileTokenStore(path).Load(t.Context())
		require.NoError(t, err)
		require.Equal(t, "next", kept.AccessToken.Reveal())
	}
}

func TestSessionThatCannotBeExportedIsNotSaved(t *testing.T) {
	path := filepath.Join(t.TempDir(), "session")
	session := sessionOfToken("token")
	session.ExpiresAt = time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC) // which no JSON can say
	require.Error(t, NewFileTokenStore(path).Save(t.Context(), session))
	assert.NoFileExists(t, path)
}

func TestTokensThatAHeaderCarries(t *testing.T) {
	for token, can := range map[string]bool{"!": true, "~": true, "a-b_c.d~e+f/g=": true, "": false, " ": false,
		"\x7f": false, "a b": false, "é": false} {
		assert.Equal(t, can, sendable(moneymovement.NewSecret(token)), "%q", token)
	}
}

func TestSessionFileIsWaitedForAsLongAsTheCallerDoes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "session")
	store := NewFileTokenStore(path)
	require.NoError(t, store.Save(t.Context(), sessionOfToken("old")))
	other, err := openLocked(path, os.O_RDWR)
	require.NoError(t, err)

	gone, leave := context.WithCancel(t.Context())
	leave()
	_, err = store.Load(gone)
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorIs(t, store.Save(gone, sessionOfToken("new")), context.Canceled)

	require.NoError(t, other.Close())
	kept, err := store.Load(t.Context())
	require.NoError(t, err)
	assert.Equal(t, "old", kept.AccessToken.Reveal())
}

func TestSessionsOfAnyTokensThatCanBeSentFit(t *testing.T) {
	store := NewFileTokenStore(filepath.Join(t.TempDir(), "session"))
	escaped := strings.Repeat(`"`, 64<<10)
	session := Session{AccessToken: moneymovement.NewSecret(escaped), RefreshToken: moneymovement.NewSecret(escaped),
		Credential: strings.Repeat("c", 32)}
	for range 3 {
		require.NoError(t, store.Save(t.Context(), session))
		kept, err := store.Load(t.Context())
		require.NoError(t, err)
		require.Equal(t, escaped, kept.AccessToken.Reveal())
		require.Equal(t, escaped, kept.RefreshToken.Reveal())
	}
	data, err := session.Export()
	require.NoError(t, err)
	// all the room that there is, in both places of the file
	session.Credential += strings.Repeat("c", maxStored-len(data))
	for range 3 {
		require.NoError(t, store.Save(t.Context(), session))
		kept, err := store.Load(t.Context())
		require.NoError(t, err)
		require.Equal(t, session.Credential, kept.Credential)
	}
	session.Credential += "c"
	require.ErrorIs(t, store.Save(t.Context(), session), errTooLong)
	session.RefreshToken = moneymovement.NewSecret(escaped + strings.Repeat("secret", 64<<10))
	err = store.Save(t.Context(), session)
	require.ErrorIs(t, err, errTooLong)
	assert.Less(t, len(err.Error()), 300, "which quotes no token")
}
