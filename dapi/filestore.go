package dapi

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/moneymovement/moneymovement-go/internal/outcome"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// NewFileTokenStore returns a [TokenStore] that keeps a session in a file that only its owner can read (mode 0600).
// Processes that share the file lock it. Load and Save wait at most ten seconds for the lock.
//
// The file holds two sessions. Save writes the new one beside the old one, and Load returns the newest one that is
// complete. So if a process is killed or a machine loses power, the file still has the new session or the old one.
// Save makes no temporary file, and removes or replaces none: the path can be a symbolic link to an existing file, or a
// file that is mounted by itself. If a link leads to no file, Save fails. If the system supports it, Save also syncs
// the folder to the disk.
//
// Save fails for a file that holds something else than sessions. A file of sessions that has no complete one, which a
// full disk may leave, is written again.
//
// # Unix
//
// On Unix systems, which include macOS, Load and Save fail for
//
//   - a file that other users can read or write,
//   - a file that belongs neither to the user of the process nor to root,
//   - a file that is not a regular file,
//   - a file below a folder, at any level, in which every user can replace files,
//   - a file on a volume that does not support permission bits or locks.
//
// # Other systems
//
// On Windows, Load and Save check only the format and the length of the file. The folder decides who can read its
// files, so use a folder in the user's profile.
//
// On js/wasm, wasip1, Solaris and AIX, processes cannot lock the file. If two processes save at the same time, the file
// has the session of one of them, or none.
func NewFileTokenStore(path string) TokenStore {
	return fileTokenStore{path: path, open: openLocked, syncFolder: syncFolder}
}

type fileTokenStore struct {
	path string
	// the file is locked until it is closed; errInUse if another process has it
	open       func(path string, flag int) (sessionFile, error)
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
	errInUse      = errors.New("another process has locked it: try again, or stop that process")
	errNotRegular = errors.New("it is not a regular file: use another path")
	errForeign    = errors.New("it belongs to another user: use another path")
	errWritable   = errors.New("other users can write to it, so its content may be theirs: remove it")
	errReadable   = errors.New("other users can read it: run chmod 600 on it")
	errFolder     = errors.New("every user can replace files in this folder: run chmod o-w on it")
)

const (
	lockTimeout = 10 * time.Second // longer than many processes need to save one after the other
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
	defer file.Close() // the data is synced, so closing cannot lose it
	if err := before.next(data).write(file); err != nil {
		return err
	}
	return f.syncFolder(filepath.Dir(f.path)) // otherwise a crash could lose the name of a new file
}

// toWrite opens the file, and creates it if it does not exist. It never removes or replaces a file: a link to it would
// be lost, a file that is mounted by itself cannot be replaced, and the content may be somebody's.
func (f fileTokenStore) toWrite(ctx context.Context) (file sessionFile, before slot, err error) {
	for range 3 { // another process may make or remove the file in between
		if file, err = f.locked(ctx, os.O_RDWR); errors.Is(err, fs.ErrNotExist) {
			file, err = f.locked(ctx, os.O_RDWR|os.O_CREATE|os.O_EXCL)
		}
		if !errors.Is(err, fs.ErrExist) && !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	if err != nil {
		return nil, slot{}, err
	}
	if before, err = f.newest(file); err != nil && !errors.Is(err, errDamaged) {
		file.Close()
		return nil, slot{}, err
	}
	return file, before, nil
}

// newest returns the last complete session of an open file, or the zero slot if nothing was written yet.
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

// locked opens the file when no other process writes it.
func (f fileTokenStore) locked(ctx context.Context, flag int) (sessionFile, error) {
	if err := outcome.RequireContext(ctx, "NewFileTokenStore"); err != nil {
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
		flag &^= os.O_CREATE | os.O_EXCL // the file exists now
		if ended := transport.Pause(ctx, lockPause); ended != nil {
			return nil, ended
		}
	}
}

func (f fileTokenStore) refused(reason error) error {
	return &fs.PathError{Op: "session file", Path: f.path, Err: reason}
}
