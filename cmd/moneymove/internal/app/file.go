package app

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// ReplaceFile writes a file that only its owner can read. Its name stands for the old content or for the new one,
// whenever the process ends. A link stays: the file that it leads to is replaced.
func ReplaceFile(path string, content []byte) error {
	target, err := replaceable(path)
	if err != nil {
		return err
	}
	file, err := os.CreateTemp(filepath.Dir(target), "."+filepath.Base(target)+"-") // with mode 0600
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	if err = errors.Join(err, file.Sync(), file.Close()); err == nil {
		err = os.Rename(file.Name(), target)
	}
	if err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return nil
}

// replaceable follows the links of a path and returns the file at their end. It fails for a device or a folder, such as
// /dev/stdout, and for a link whose target does not exist.
func replaceable(path string) (string, error) {
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return path, nil
	}
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", err
	}
	info, err := os.Stat(target)
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "write", Path: path, Err: errors.New("it is not a regular file: use another path")}
	}
	return target, err
}
