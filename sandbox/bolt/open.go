//go:build !wasm

package bolt

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"go.etcd.io/bbolt"
	bbolterrors "go.etcd.io/bbolt/errors"
)

const (
	// waitForLock is how long Open waits for another process to close the file. A killed process has closed it.
	waitForLock = time.Second

	// fileMode and folderMode allow the owner alone to read: the file has credentials.
	fileMode   = 0o600
	folderMode = 0o700

	// version is the version of the format that this package writes.
	version = 1
)

// The buckets of the file. The bucket of the records has a bucket for each kind, and that one has two: the records by
// the number of their first put, and these numbers by the ids of the records.
var (
	headBucket  = []byte("moneymovement sandbox")
	kindsBucket = []byte("kinds")
	orderBucket = []byte("order")
	idsBucket   = []byte("ids")

	versionKey = []byte("version")
)

// Open opens the store in a file. It makes the file, and its folder, if there is none.
//
// The error is *[InUse] if a process has the file open, *[NotAStore] if the file is something else, *[Newer] if a later
// version of this package has written it, and *[Damaged] if it cannot be read.
//
// Close the store when no host uses it any more.
func Open(path string) (*Store, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("bolt: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(path), folderMode); err != nil {
		return nil, fmt.Errorf("bolt: cannot make the folder of the store: %w", err)
	}
	s := &Store{path: path}
	err = s.guarded(func() (err error) {
		s.db, err = bbolt.Open(path, fileMode, &bbolt.Options{Timeout: waitForLock,
			FreelistType: bbolt.FreelistMapType})
		return opened(path, err)
	})
	if err != nil {
		return nil, err
	}
	if err := errors.Join(s.guarded(s.recognize), private(path)); err != nil {
		return nil, errors.Join(err, s.guarded(s.db.Close))
	}
	return s, nil
}

// opened returns an error of bbolt as one of this package.
func opened(path string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, bbolterrors.ErrTimeout):
		return &InUse{Path: path}
	case errors.Is(err, bbolterrors.ErrInvalid), errors.Is(err, bbolterrors.ErrVersionMismatch):
		return &NotAStore{Path: path, Err: err}
	case errors.Is(err, bbolterrors.ErrChecksum):
		return &Damaged{Path: path, Problem: "its first pages are wrong", Err: err}
	case strings.Contains(err.Error(), "file size too small"): // which has no name in bbolt
		return &Damaged{Path: path, Problem: "its end is missing", Err: err}
	default:
		return fmt.Errorf("bolt: cannot open %s: %w", path, err)
	}
}

// recognize reads the version of the file. It makes an empty database a store.
func (s *Store) recognize() error {
	var head []byte
	empty := true
	err := s.db.View(func(tx *bbolt.Tx) error {
		if bucket := tx.Bucket(headBucket); bucket != nil {
			head = append(head, bucket.Get(versionKey)...)
		}
		first, _ := tx.Cursor().First()
		empty = first == nil
		return nil
	})
	if err != nil {
		return err
	}
	if empty {
		return errors.Join(s.make(), syncFolder(filepath.Dir(s.path)))
	}
	if head == nil {
		return &NotAStore{Path: s.path}
	}
	switch written, err := strconv.Atoi(string(head)); {
	case err != nil || written < 1:
		return &Damaged{Path: s.path, Problem: "it has no version"}
	case written > version:
		return &Newer{Path: s.path, Version: written, Known: version}
	}
	return nil
}

// make writes the version.
func (s *Store) make() error {
	err := s.db.Update(func(tx *bbolt.Tx) error {
		head, err := tx.CreateBucket(headBucket)
		if err != nil {
			return err
		}
		if _, err := tx.CreateBucket(kindsBucket); err != nil {
			return err
		}
		return head.Put(versionKey, strconv.AppendInt(nil, version, 10))
	})
	if err != nil {
		return fmt.Errorf("bolt: cannot write %s: %w", s.path, err)
	}
	return nil
}

// private removes the permissions of other users from a file.
func private(path string) error {
	info, err := os.Stat(path)
	if err == nil && info.Mode().Perm()&^fileMode != 0 {
		err = os.Chmod(path, fileMode)
	}
	if err != nil {
		return fmt.Errorf("bolt: cannot make %s private: %w", path, err)
	}
	return nil
}

// guarded returns a failure to read a page as *[Damaged]. bbolt panics about a page that cannot be right. A page beyond
// the end of the file is a fault of memory.
func (s *Store) guarded(do func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if cause := recover(); cause != nil {
			err = &Damaged{Path: s.path, Problem: fmt.Sprint(cause)}
		}
	}()
	return do()
}

// InUse says that another process has the file open, or that this one has it open already. Nothing was changed.
type InUse struct {
	// Path is the file.
	Path string
}

// Error returns one line, safe to log.
func (e *InUse) Error() string {
	return fmt.Sprintf("bolt: another process has %s open: stop the host that uses it, or give this one another file",
		e.Path)
}

// NotAStore says that a file is not a store of this package. Nothing was changed.
type NotAStore struct {
	// Path is the file.
	Path string
	// Err is the error of bbolt. Nil if the file is a database of another program.
	Err error
}

// Error returns one line, safe to log.
func (e *NotAStore) Error() string {
	return fmt.Sprintf("bolt: %s is not a store of a sandbox host: give another path, or move that file away%s",
		e.Path, because(e.Err))
}

// Unwrap returns Err.
func (e *NotAStore) Unwrap() error { return e.Err }

// Newer says that a later version of this package has written the file. Nothing was changed.
type Newer struct {
	// Path is the file.
	Path string
	// Version is the version of the file, and Known the newest one that this package reads.
	Version, Known int
}

// Error returns one line, safe to log.
func (e *Newer) Error() string {
	return fmt.Sprintf("bolt: %s has version %d of the format, and this program knows versions up to %d: use the "+
		"later version of the program that wrote it", e.Path, e.Version, e.Known)
}

// Damaged says that the file was a store of this package, and cannot be read any more.
type Damaged struct {
	// Path is the file.
	Path string
	// Problem says what was found, safe to log.
	Problem string
	// Err is the error of bbolt. Nil if there is none.
	Err error
}

// Error returns one line, safe to log.
func (e *Damaged) Error() string {
	return fmt.Sprintf("bolt: %s is damaged: %s: put a copy of the file in its place, or move it away to start with "+
		"an empty one%s", e.Path, e.Problem, because(e.Err))
}

// Unwrap returns Err.
func (e *Damaged) Unwrap() error { return e.Err }

func because(err error) string {
	if err == nil {
		return ""
	}
	return " (" + err.Error() + ")"
}
