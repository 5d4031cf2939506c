// Package keyfile reads key files, and creates key files that only their owner can read.
package keyfile

import (
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// ErrTooLarge means that a file is larger than any key.
var ErrTooLarge = errors.New("the file is too large for a key")

// Read returns the content of the file. If the file is larger than [MaxSize], the error wraps [ErrTooLarge].
func Read(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, MaxSize+1))
	if err != nil {
		return nil, err
	}
	if len(data) > MaxSize {
		return nil, &fs.PathError{Op: "read", Path: path, Err: ErrTooLarge}
	}
	return data, nil
}

// Create writes a PEM block to a new file with mode 0600, and clears der. It never replaces a file: if path exists, the
// error is fs.ErrExist. A reader of path finds no file or the whole file, also after a crash.
func Create(path, blockType string, der []byte) error {
	data := pem.EncodeToMemory(&pem.Block{Type: blockType, Bytes: der})
	defer clear(data)
	defer clear(der)
	return create(path, data, os.Link)
}

// create has a parameter to link files, because some file systems do not support links.
func create(path string, data []byte, link func(temporary, path string) error) error {
	if _, err := os.Lstat(path); err == nil {
		return &fs.PathError{Op: "create", Path: path, Err: fs.ErrExist}
	}
	temporary, err := writeTemporary(filepath.Dir(path), data)
	if err != nil {
		return err
	}
	defer os.Remove(temporary)

	// Unlike a rename, a link fails if somebody else has created path in the meantime.
	err = link(temporary, path)
	if noLinks(err) {
		return createExclusively(path, data)
	}
	if err != nil {
		return err
	}
	syncDirectory(filepath.Dir(path))
	return nil
}

// writeTemporary relies on os.CreateTemp's mode, which is 0600.
func writeTemporary(directory string, data []byte) (name string, err error) {
	file, err := os.CreateTemp(directory, ".key-*")
	if err != nil {
		return "", err
	}
	if err := writeAndClose(file, data); err != nil {
		os.Remove(file.Name())
		return "", err
	}
	return file.Name(), nil
}

// createExclusively is for file systems without hard links. A reader can see a part of the file.
func createExclusively(path string, data []byte) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if err := writeAndClose(file, data); err != nil {
		os.Remove(path)
		return err
	}
	return nil
}

// durable is a file whose content can be flushed to disk.
type durable interface {
	io.WriteCloser
	Sync() error
}

func writeAndClose(file durable, data []byte) error {
	_, err := file.Write(data)
	if err == nil {
		err = file.Sync()
	}
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return fmt.Errorf("write key file: %w", err)
	}
	return nil
}

// noLinks reports whether err says that the file system does not support links.
func noLinks(err error) bool {
	return errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.EPERM)
}

// syncDirectory makes the new name survive a crash. Some systems cannot sync a directory. The file itself is safe
// already, so a failure does not mean that the key was not saved.
func syncDirectory(path string) {
	directory, err := os.Open(path)
	if err != nil {
		return
	}
	defer directory.Close()
	_ = directory.Sync()
}
