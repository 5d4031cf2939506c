package sqlite

import (
	"errors"
	"fmt"
	"strings"
	"syscall"

	driver "modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"github.com/moneymovement/moneymovement-go/internal/errorbase"
)

// InUse says that a store is open already, in another process or in this one. Nothing was changed. A store is open in
// one process at a time: end the other one, or let it make the payments. For several processes, use package
// payments/postgres.
type InUse struct {
	// Path is the file of the store.
	Path string
	// Process is the id of the process that has it open. 0 if it is not known.
	Process int
}

// Error returns one line, safe to log.
func (e *InUse) Error() string {
	holder := "a process"
	if e.Process > 0 {
		holder = fmt.Sprintf("process %d", e.Process)
	}
	return errorbase.Textf(e, "sqlite: %s is in use by %s: stop it first, close the store there, or use package "+
		"payments/postgres for several processes", e.Path, holder)
}

// Damaged says that a file is not a whole store of payments. Nothing was changed. Its message says how to go on. Do not
// start with an empty store instead: payments that are under way would be unknown.
type Damaged struct {
	// Path is the file of the store.
	Path string
	// Problems say what was found, safe to log. There is at least one.
	Problems []string
	// Err is the error of SQLite. Nil if there is none.
	Err error
}

// Error returns one line, safe to log.
func (e *Damaged) Error() string {
	problems := strings.Join(e.Problems[:min(len(e.Problems), 3)], "; ")
	if more := len(e.Problems) - 3; more > 0 {
		problems += fmt.Sprintf("; and %d more", more)
	}
	return errorbase.Textf(e, "sqlite: %s is damaged or is not a store of payments: %s. To go on: 1. stop the "+
		"program, and move the file and its -wal and -shm to another folder; 2. put the last copy that Backup made in "+
		"its place; 3. check it with the command paymentsfile of this module, or open it and call Check; 4. start the "+
		"program, and submit your payments since that copy again, with the same keys: each is searched for before it "+
		"is paid; 5. call Reconcile for the time since that copy, and do what its report says; 6. call EndRestored: "+
		"new payments need no search then", e.Path, problems)
}

// Unwrap returns Err.
func (e *Damaged) Unwrap() error { return e.Err }

// Newer says that a later version of this package has written the file. Nothing was changed. Use that version.
type Newer struct {
	// Path is the file of the store.
	Path string
	// Version is the version of the file, and Known the newest one that this package reads.
	Version, Known int
}

// Error returns one line, safe to log.
func (e *Newer) Error() string {
	return errorbase.Textf(e,
		"sqlite: %s has version %d of the schema, and this program knows versions up to %d: use the "+
			"later version of the program that wrote it", e.Path, e.Version, e.Known)
}

// Full says that the disk has no room. What the call should have written is not stored, and nothing else is lost. The
// store writes again when there is room.
type Full struct {
	// Path is the file of the store.
	Path string
	// Err is the error of SQLite.
	Err error
}

// Error returns one line, safe to log.
func (e *Full) Error() string {
	return errorbase.Textf(e, "sqlite: no room to write %s: free some on its disk, and try again: %v", e.Path, e.Err)
}

// Unwrap returns Err.
func (e *Full) Unwrap() error { return e.Err }

// Failed says that the disk has failed to write. What the call should have written may or may not be stored. The store
// writes nothing more. Check the disk, then open the store again: it reads what the disk has kept.
type Failed struct {
	// Path is the file of the store.
	Path string
	// Err is the error of SQLite.
	Err error
}

// Error returns one line, safe to log.
func (e *Failed) Error() string {
	return errorbase.Textf(e,
		"sqlite: writing %s has failed, and the store is closed for writing: look at its disk, then "+
			"open it again: %v", e.Path, e.Err)
}

// Unwrap returns Err.
func (e *Failed) Unwrap() error { return e.Err }

// Removed says that a file of an open store was removed, moved or replaced by another one. Writes to it would end with
// the process. So the store writes nothing more, and what the call should have written counts as not stored.
// [Store.Backup] still copies what was stored before, until the process ends.
type Removed struct {
	// Path is the file of the store.
	Path string
	// File is the file that is not there any more, or is another one now.
	File string
}

// Error returns one line, safe to log.
func (e *Removed) Error() string {
	return errorbase.Textf(e, "sqlite: %s was removed, moved or replaced while the store was open, so nothing is "+
		"stored any more. To go on: 1. let this process call Backup, which still reads all payments; 2. stop it; "+
		"3. put the copy in the place of %s, and remove what is left of the -wal and -shm beside it; 4. call "+
		"EndRestored, because this copy lacks nothing, and start again", e.File, e.Path)
}

// Closed says that a store was closed. Nothing was changed.
type Closed struct {
	// Path is the file of the store.
	Path string
}

// Error returns one line, safe to log.
func (e *Closed) Error() string {
	return errorbase.Textf(e, "sqlite: %s was closed: open it again", e.Path)
}

// code returns the code of an error of SQLite, 0 for other errors, with and without what extends it.
func code(err error) (primary, extended int) {
	var failed *driver.Error
	if !errors.As(err, &failed) {
		return 0, 0
	}
	return failed.Code() & 0xff, failed.Code()
}

// asTyped returns an error of SQLite as one of this package, if it is one.
func asTyped(path string, err error) error {
	var full *Full
	var damaged *Damaged
	var failed *Failed
	if errors.As(err, &full) || errors.As(err, &damaged) || errors.As(err, &failed) {
		return err
	}
	primary, extended := code(err)
	if extended == lib.SQLITE_IOERR_SHMSIZE { // there was no room for the memory that connections share
		primary = lib.SQLITE_FULL
	}
	switch primary {
	case lib.SQLITE_FULL:
		return &Full{Path: path, Err: err}
	case lib.SQLITE_CORRUPT, lib.SQLITE_NOTADB:
		return &Damaged{Path: path, Problems: []string{"SQLite cannot read it"}, Err: err}
	case lib.SQLITE_IOERR:
		return &Failed{Path: path, Err: err}
	case 0:
		if err != nil && strings.HasPrefix(err.Error(), "sql: Scan error") { // database/sql has no type for it
			return &Damaged{Path: path, Problems: []string{"a value has another type than its column"}, Err: err}
		}
		return err
	}
	return fmt.Errorf("sqlite: %s: %w", path, err)
}

// asFull returns an error of a file that is made without SQLite as *[Full] if its disk is full.
func asFull(path string, err error) error {
	if errors.Is(err, syscall.ENOSPC) {
		return &Full{Path: path, Err: err}
	}
	return err
}
