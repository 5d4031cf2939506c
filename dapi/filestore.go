package dapi

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// FileTokenStore keeps a session in a file that only its owner can read (mode 0600). The file is replaced as a whole, so that a
// process that reads while another writes sees one session or the other.
func FileTokenStore(path string) TokenStore { return fileTokenStore(path) }

type fileTokenStore string

// Load implements TokenStore.
func (f fileTokenStore) Load(context.Context) (Session, error) {
	var s Session
	data, err := os.ReadFile(string(f))
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return s, err
	}
	return s, s.UnmarshalBinary(data)
}

// Save implements TokenStore.
func (f fileTokenStore) Save(_ context.Context, session Session) error {
	data, err := session.MarshalBinary()
	if err != nil {
		return err
	}
	temporary, err := os.CreateTemp(filepath.Dir(string(f)), ".session-*") // created with mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(temporary.Name())
	if _, err = temporary.Write(data); err == nil {
		err = temporary.Sync()
	}
	if closeErr := temporary.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return err
	}
	return os.Rename(temporary.Name(), string(f))
}
