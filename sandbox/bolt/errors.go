//go:build !wasm

package bolt

import "fmt"

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
