package dapi

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/moneymovement/moneymovement-go/internal/required"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// NewFileTokenStore keeps a session in a file that only its owner can read (mode 0600). Processes that share the file take
// turns, for up to ten seconds; then Load and Save give up.
//
// The file has room for two sessions. Save writes the new one beside the old one, and Load takes the newest that is
// complete. There is no temporary file: if a process is killed or a machine loses power, the file still holds the new
// session or the old one. Save syncs the folder, too, where the system can. Load reads at most about 650 kB, however
// long the file is. If the path is a symbolic link to an existing file, that file is used. If the link leads nowhere,
// no file is made.
//
// On Unix systems, which include macOS, a file is refused if others can write or read it, if it belongs to another user
// than the process or root, or if it is not a regular file. It is also refused if it lies in a folder, at any height,
// where everybody can replace files. Save replaces a file of the process's own user that others can write or read, or
// that holds no session. A file on a volume without working mode bits or without locks is refused.
//
// On Windows only the file's form and length are looked at: who can read it is what its folder lets new files inherit,
// so keep it in the user's profile. On js/wasm, wasip1, Solaris and AIX nothing keeps two processes from writing at the
// same time. The last write then stays, or none.
func NewFileTokenStore(path string) TokenStore {
	return fileTokenStore{path: path, open: openLocked, syncFolder: syncFolder}
}

type fileTokenStore struct {
	path       string
	open       func(path string, flag int) (sessionFile, error) // locked until it is closed, or errInUse
	syncFolder func(path string) error
}

// sessionFile is an open file that holds sessions. A test has one that fails.
type sessionFile interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	Stat() (fs.FileInfo, error)
	Sync() error
}

var (
	errInUse      = errors.New("another process keeps it locked")
	errNotRegular = errors.New("it is no regular file")
	errForeign    = errors.New("it belongs to another user")
	errWritable   = errors.New("others can write it: remove it, since what it holds may be theirs")
	errReadable   = errors.New("others can read it: run chmod 600 on it")
	errFolder     = errors.New("everybody can replace files in this folder: run chmod o-w on it")
)

const (
	lockTimeout = 10 * time.Second // more than many processes need to save one after the other
	lockPause   = 2 * time.Millisecond
)

// Load implements TokenStore.
func (f fileTokenStore) Load(ctx context.Context) (Session, error) {
	file, err := f.locked(ctx, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return Session{}, nil
	}
	if err != nil {
		return Session{}, err
	}
	defer file.Close()
	newest, err := f.newest(file)
	if err != nil || newest.data == nil {
		return Session{}, err
	}
	return ImportSession(newest.data)
}

// Save implements TokenStore.
func (f fileTokenStore) Save(ctx context.Context, session Session) error {
	data, err := session.Export()
	if err != nil {
		return err
	}
	if len(data) > maxStored {
		return f.refused(errTooLong)
	}
	if err := checkFolders(f.path); err != nil {
		return err
	}
	file, before, err := f.toWrite(ctx)
	if err != nil {
		return err
	}
	defer file.Close() // what was synced cannot fail any more
	if err := before.next(data).write(file); err != nil {
		return err
	}
	return f.syncFolder(filepath.Dir(f.path)) // or a crash could take a new file's name
}

// toWrite opens the file, and creates it if it does not exist. A file of this user that cannot be trusted with a
// session is removed first: another process that has it open could read what is written later.
func (f fileTokenStore) toWrite(ctx context.Context) (file sessionFile, before slot, err error) {
	for range 3 { // another process may make or replace the file in between
		if file, err = f.locked(ctx, os.O_RDWR); errors.Is(err, fs.ErrNotExist) {
			file, err = f.locked(ctx, os.O_RDWR|os.O_CREATE|os.O_EXCL)
		}
		if errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, slot{}, err
		}
		if before, err = f.newest(file); err == nil {
			return file, before, nil
		}
		file.Close()
		if !errors.Is(err, errWritable) && !errors.Is(err, errReadable) && !errors.Is(err, errNoSession) {
			return nil, slot{}, err
		}
		if removed := os.Remove(f.path); removed != nil && !errors.Is(removed, fs.ErrNotExist) {
			return nil, slot{}, removed
		}
	}
	return nil, slot{}, err
}

// newest is the last session that an open file holds whole, or the zero slot if nothing was written yet.
func (f fileTokenStore) newest(file sessionFile) (slot, error) {
	info, err := file.Stat()
	if err != nil {
		return slot{}, err
	}
	if !info.Mode().IsRegular() {
		return slot{}, f.refused(errNotRegular)
	}
	if err = checkFile(info); err != nil {
		return slot{}, f.refused(err)
	}
	if err = checkFolders(f.path); err != nil {
		return slot{}, err
	}
	newest, err := newestSlot(file, info.Size())
	if err != nil {
		return slot{}, f.refused(err)
	}
	return newest, nil
}

// locked opens the file once no other process writes it.
func (f fileTokenStore) locked(ctx context.Context, flag int) (sessionFile, error) {
	if err := required.Context(ctx, "NewFileTokenStore"); err != nil {
		return nil, err
	}
	for since := time.Now(); ; {
		file, err := f.open(f.path, flag)
		if !errors.Is(err, errInUse) {
			return file, err
		}
		if time.Since(since) > lockTimeout {
			return nil, f.refused(err)
		}
		flag &^= os.O_CREATE | os.O_EXCL // it is there now
		if ended := transport.Pause(ctx, lockPause); ended != nil {
			return nil, ended
		}
	}
}

func (f fileTokenStore) refused(reason error) error {
	return &fs.PathError{Op: "session file", Path: f.path, Err: reason}
}
