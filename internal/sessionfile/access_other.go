//go:build !unix

package sessionfile

import (
	"io/fs"
	"os"
)

// openFile opens a file. Windows has another way to open and lock one.
func openFile(path string, flag int) (*os.File, error) { return os.OpenFile(path, flag, 0o600) }

// checkFile and checkFolders check nothing. On Windows, mode bits mean nothing, and the folder decides who can reach a
// file. On wasm, it depends on the program that runs this one whether they mean something.
func checkFile(fs.FileInfo) error { return nil }
func checkFolders(string) error   { return nil }

// syncFolder does nothing. On Windows, the file system keeps names in its own log. On wasm, a folder cannot be opened
// to be synced.
func syncFolder(string) error { return nil }
