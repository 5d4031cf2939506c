//go:build unix

package sessionfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// openFile opens a file. It does not wait for the other end of a pipe.
func openFile(path string, flag int) (*os.File, error) {
	return os.OpenFile(path, flag|syscall.O_NONBLOCK, 0o600)
}

// checkFile refuses a file that others own, write or read.
func checkFile(info fs.FileInfo) error {
	stat, known := info.Sys().(*syscall.Stat_t)
	switch {
	case !known || stat.Uid != 0 && int64(stat.Uid) != int64(os.Geteuid()):
		return errForeign
	case info.Mode().Perm()&0o022 != 0:
		return errWritable
	case info.Mode().Perm()&0o077 != 0:
		return errReadable
	}
	return nil
}

// checkFolders refuses a path where everybody can replace the session's file. It checks the path itself and where its
// links lead.
func checkFolders(path string) error {
	named, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	if err := checkFoldersOf(named); err != nil {
		return err
	}
	resolved, err := filepath.EvalSymlinks(named)
	if errors.Is(err, fs.ErrNotExist) || resolved == named {
		return nil
	}
	if err != nil {
		return err
	}
	return checkFoldersOf(resolved)
}

func checkFoldersOf(path string) error {
	for folder := filepath.Dir(path); ; folder = filepath.Dir(folder) {
		info, err := os.Stat(folder)
		if err != nil {
			return err
		}
		if info.Mode().Perm()&0o002 != 0 && info.Mode()&fs.ModeSticky == 0 {
			return &fs.PathError{Op: "session file", Path: folder, Err: errFolder}
		}
		if folder == filepath.Dir(folder) {
			return nil
		}
	}
}

// syncFolder writes the names in a folder to the disk, so that a crash cannot lose them. It accepts file systems that
// cannot do this.
func syncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	defer folder.Close()
	return synced(folder)
}

func synced(folder interface{ Sync() error }) error {
	err := folder.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	return err
}
