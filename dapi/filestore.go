package dapi

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// FileTokenStore keeps a session in a file that only its owner can read (mode 0600). The file is replaced as a whole, so that a
// process that reads while another writes sees one session or the other.
func FileTokenStore(path string) TokenStore {
	return fileTokenStore{path: path, create: func(directory string) (temporaryFile, error) {
		return os.CreateTemp(directory, ".session-*") // with mode 0600
	}}
}

type fileTokenStore struct {
	path   string
	create func(directory string) (temporaryFile, error)
}

// temporaryFile is what becomes the session's file once it is whole. A test has one that fails.
type temporaryFile interface {
	io.WriteCloser
	Name() string
	Sync() error
}

// Load implements TokenStore.
func (f fileTokenStore) Load(context.Context) (Session, error) {
	data, err := os.ReadFile(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return Session{}, nil
	}
	if err != nil {
		return Session{}, err
	}
	return ImportSession(data)
}

// Save implements TokenStore.
func (f fileTokenStore) Save(_ context.Context, session Session) error {
	data, err := session.Export()
	if err != nil {
		return err
	}
	temporary, err := f.create(filepath.Dir(f.path))
	if err != nil {
		return err
	}
	defer os.Remove(temporary.Name())
	if _, err = temporary.Write(data); err == nil {
		err = temporary.Sync() // or a crash could leave an empty file under the name
	}
	if closeErr := temporary.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return err
	}
	return os.Rename(temporary.Name(), f.path)
}
