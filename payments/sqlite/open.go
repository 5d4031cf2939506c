package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	driver "modernc.org/sqlite"
)

// readerCount is how many connections read at the same time.
const readerCount = 4

// Open opens the store in a file, and makes the file if there is none. The path can be a symbolic link to a file.
//
// The errors are:
//
//   - *[InUse] if a process has the store open;
//   - *[Damaged] if the file is not a whole store, for example if it is empty;
//   - *[Newer] if a later version of this package has written it;
//   - *[Full] if the disk has no room.
//
// Open brings a store of an earlier version to this one, in one transaction.
//
// Close the store when nothing uses it any more.
func Open(ctx context.Context, path string, options ...Option) (*Store, error) {
	settings := settings{migrations: migrations, least: basic}
	for _, option := range options {
		option(&settings)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	path, err := realPath(path)
	if err != nil {
		return nil, err
	}
	lock, err := lockFor(path)
	if err != nil {
		return nil, asFull(path, err)
	}
	s := &Store{path: path, settings: settings, lock: lock, queue: make(chan *request, batchSize),
		done: make(chan struct{})}
	if err := s.open(ctx); err != nil {
		return nil, errors.Join(asFull(path, err), s.release())
	}
	lock.made = false // its file stays from now on
	go func() {
		defer close(s.done)
		s.writer.run()
	}()
	return s, nil
}

// realPath returns the path without symbolic links: the log and the lock are beside the file itself.
func realPath(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("sqlite: %w", err)
	}
	if strings.ContainsRune(path, 0) || path == "" {
		return "", fmt.Errorf("sqlite: %q is not a path of a file", path)
	}
	if _, err := os.Lstat(path); err == nil { //gosec:disable G703 -- the caller names it
		path, err = filepath.EvalSymlinks(path)
		if err != nil {
			return "", fmt.Errorf("sqlite: %w", err)
		}
		return path, nil
	}
	folder, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		return "", fmt.Errorf("sqlite: make the folder of the store first: %w", err)
	}
	return filepath.Join(folder, filepath.Base(path)), nil
}

func (s *Store) open(ctx context.Context) error {
	info, err := os.Lstat(s.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err := s.create(ctx); err != nil {
			return err
		}
	case err != nil:
		return fmt.Errorf("sqlite: %w", err)
	default:
		if err := checkFile(s.path, info); err != nil {
			return err
		}
	}
	found, err := inspect(s.path)
	if err != nil {
		return err
	}
	if err := s.checkLog(ctx, found); err != nil {
		return err
	}
	if len(found.pages) > 0 {
		if err := s.readThroughLog(ctx); err != nil {
			return err
		}
	}
	if s.writers, err = s.connect("_txlock=immediate", 1); err != nil {
		return err
	}
	conn, err := s.writers.Conn(ctx)
	if err != nil {
		return asTyped(s.path, err)
	}
	s.writer = &writer{store: s, conn: conn, turns: map[string]int64{}, maxTurns: minTurns}
	// The connection creates a log. If the store is refused, the log is removed again: the next Open would take an
	// empty log as proof that no payments are missing.
	if err := setKeepLog(conn, found.log); err != nil {
		return asTyped(s.path, err)
	}
	if err := migrate(ctx, conn, s.path, s.settings.migrations, s.settings.least); err != nil {
		return err
	}
	if err := checkSchema(ctx, conn, s.path, s.settings.migrations); err != nil {
		return err
	}
	if err := setKeepLog(conn, true); err != nil {
		return asTyped(s.path, err)
	}
	if err := s.writer.prepare(ctx); err != nil {
		return asTyped(s.path, err)
	}
	if err := s.resume(ctx, conn); err != nil {
		return asTyped(s.path, err)
	}
	if err := s.writer.resumeRestored(ctx); err != nil {
		return asTyped(s.path, err)
	}
	// An earlier process may have written without a sync. This writes all of it again, with a sync. The file itself
	// then says that it is in use, and so does a copy of it without its log.
	if err := checkpoint(ctx, conn); err != nil {
		return asTyped(s.path, err)
	}
	if err := checkLength(ctx, conn, s.path); err != nil {
		return err
	}
	if err := s.noteFiles(); err != nil {
		return err
	}
	s.readers.db, err = s.connect("_query_only=1", readerCount)
	return err
}

// parameters are those of each connection. FULL syncs the log with each transaction. A Mac's disks keep nothing for
// sure without fullfsync.
const parameters = "mode=rw&_busy_timeout=5000&_synchronous=FULL&_dqs=0&_pragma=fullfsync(1)&" +
	"_pragma=checkpoint_fullfsync(1)&_pragma=cell_size_check(1)&_pragma=trusted_schema(0)&_pragma=temp_store(2)&" +
	"_pragma=journal_size_limit(67108864)&"

// connect returns connections, which are opened when they are used first.
func (s *Store) connect(more string, connections int) (*sql.DB, error) {
	db, err := sql.Open("sqlite", address(s.path)+"?"+s.settings.parameters+parameters+more)
	if err != nil {
		return nil, fmt.Errorf("sqlite: %w", err)
	}
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	return db, nil
}

// address returns a path as SQLite takes it, which cannot be mistaken for parameters.
func address(path string) string {
	path = filepath.ToSlash(path)
	if runtime.GOOS == "windows" {
		path = "/" + path
	}
	return "file://" + (&url.URL{Path: path}).EscapedPath()
}

// uses is what a file says about those who opened it.
type uses struct {
	version int // of the schema
	inUse   bool
	page    uint32 // on which it says so
}

// usesOf reads them.
func usesOf(ctx context.Context, db interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}) (read uses, err error) {
	err = db.QueryRowContext(ctx, "SELECT user_version, in_use, rootpage FROM pragma_user_version, uses, "+
		"sqlite_schema WHERE name = 'uses'").Scan(&read.version, &read.inUse, &read.page)
	return read, err
}

// usesWithoutLog reads what a file says without its log, and changes nothing.
func (s *Store) usesWithoutLog(ctx context.Context) (alone uses, err error) {
	file, err := sql.Open("sqlite", address(s.path)+"?mode=ro&immutable=1")
	if err != nil {
		return uses{}, fmt.Errorf("sqlite: %w", err)
	}
	defer file.Close()
	return usesOf(ctx, file)
}

// checkLog refuses a file whose log is missing, and the log of another file, as it is left when a copy is put in the
// place of a file. A file that was closed in order has no log. It gets one from the next who opens it, or keeps one if
// the last step of closing it is missing: in both cases, the log says who uses the file.
//
// No connection that writes is open yet: one would make a log, or move the wrong one into the file.
func (s *Store) checkLog(ctx context.Context, found inspection) error {
	alone, err := s.usesWithoutLog(ctx)
	switch {
	case err != nil && found.log:
		return ctx.Err() // it is half written by its log, and cannot be read without it, or not at all
	case err != nil:
		return asTyped(s.path, err)
	}
	log := filepath.Base(s.path) + "-wal"
	switch {
	case !found.log && alone.inUse:
		return &Damaged{Path: s.path, Problems: []string{"its log, the file " + log +
			", is missing, and with it the newest payments: it was deleted, or the file was copied alone"}}
	case len(found.pages) == 0, alone.inUse, found.pages[alone.page]:
		return nil
	case found.version != 0 && found.version&^restoredFlag != alone.version&^restoredFlag:
		return nil // it was being migrated
	}
	return &Damaged{Path: s.path, Problems: []string{"its log, the file " + log +
		", belongs to another file: a copy was put in the place of a file, and the log of that file was left"}}
}

// readThroughLog reads a file together with its log, and changes neither. It comes before the first connection that
// writes: such a connection moves the log into the file when it is closed, even if the log belongs to another file.
func (s *Store) readThroughLog(ctx context.Context) (err error) {
	shared := s.path + "-shm"
	if _, missing := os.Lstat(shared); errors.Is(missing, fs.ErrNotExist) {
		defer func() {
			if left := os.Remove(shared); err == nil && !errors.Is(left, fs.ErrNotExist) {
				err = left
			}
		}()
	}
	db, err := s.connect("mode=ro", 1)
	if err != nil {
		return err
	}
	defer db.Close()
	conn, err := db.Conn(ctx)
	if err != nil {
		return asTyped(s.path, err)
	}
	defer conn.Close()
	version, _, err := versionOf(ctx, conn, s.path, len(s.settings.migrations))
	if err != nil || version < s.settings.least {
		return err
	}
	if err := checkSchema(ctx, conn, s.path, s.settings.migrations); err != nil {
		return err
	}
	_, err = usesOf(ctx, conn)
	return asTyped(s.path, err)
}

// setKeepLog says whether SQLite leaves the log, which may be empty then, when the connection is closed. It is there
// unless the store was closed in order.
func setKeepLog(conn *sql.Conn, keep bool) error {
	mode := 0
	if keep {
		mode = 1
	}
	return conn.Raw(func(inner any) error {
		control, ok := inner.(driver.FileControl)
		if !ok {
			return errors.New("the driver has no file control")
		}
		_, err := control.FileControlPersistWAL("main", mode)
		return err
	})
}

// checkpoint moves all of the log into the file.
func checkpoint(ctx context.Context, conn *sql.Conn) error {
	var busy, pages, moved int
	err := conn.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &pages, &moved)
	if err == nil && busy != 0 {
		return errors.New("another program reads the file: end it")
	}
	return err
}

// checkLength compares the length of a file, whose log is empty, with its pages.
func checkLength(ctx context.Context, conn *sql.Conn, path string) error {
	var pages, size int64
	err := conn.QueryRowContext(ctx, "SELECT page_count, page_size FROM pragma_page_count, pragma_page_size").
		Scan(&pages, &size)
	if err != nil {
		return asTyped(path, err)
	}
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("sqlite: %w", err)
	}
	if info.Size() < pages*size {
		return &Damaged{Path: path, Problems: []string{
			fmt.Sprintf("it has %d bytes instead of %d: its end is missing", info.Size(), pages*size),
		}}
	}
	return nil
}

// resume reads where the writer goes on, and stores that the file is in use.
func (s *Store) resume(ctx context.Context, conn *sql.Conn) error {
	var opened int64
	err := conn.QueryRowContext(ctx, "UPDATE uses SET opened = opened + 1, in_use = 1 RETURNING opened").Scan(&opened)
	if err != nil {
		return err
	}
	if opened >= math.MaxInt64>>epochBits {
		return errors.New("the store was opened too often to go on")
	}
	s.leases = newLeases(opened)
	last := conn.QueryRowContext(ctx, "SELECT coalesce(max(change), 0) FROM payments")
	if err := last.Scan(&s.writer.change); err != nil {
		return err
	}
	// The index of turns has all of this.
	rows, err := conn.QueryContext(ctx, "SELECT account, turn FROM payments WHERE work = 1 ORDER BY turn")
	if err != nil {
		return err
	}
	defer rows.Close()
	for first := true; rows.Next(); first = false {
		var account string
		var turn int64
		if err := rows.Scan(&account, &turn); err != nil {
			return err
		}
		if s.writer.turns[account] = turn; first {
			s.turn.Store(turn)
		}
	}
	return rows.Err()
}

// Option changes how [Open] opens a store.
type Option func(*settings)

// MustExist lets Open fail with an error that wraps fs.ErrNotExist if there is no file, instead of making an empty
// store. Use it after the first start of a program, so that a wrong path or a disk that is not mounted is noticed
// before anything is paid.
func MustExist() Option { return func(s *settings) { s.mustExist = true } }

type settings struct {
	mustExist  bool
	migrations [][]string
	least      int    // the version that Open brings a file to
	parameters string // of SQLite, for tests
}

// create makes the file of a new store beside its place, and puts it there when it is whole: a file that was begun and
// not finished would look like damage.
func (s *Store) create(ctx context.Context) error {
	if s.settings.mustExist {
		return fmt.Errorf("sqlite: %s must exist: check the path and that its disk is mounted, or open it without "+
			"MustExist at the first start: %w", s.path, fs.ErrNotExist)
	}
	if info, err := os.Stat(s.path + "-wal"); err == nil && info.Size() > 0 {
		return &Damaged{Path: s.path, Problems: []string{"the file is missing, and its log is there"}}
	}
	if err := createStore(ctx, s.path+".new", s.settings); err != nil {
		return err
	}
	return renameInto(s.path+".new", s.path)
}

// createStore makes a file with the schema that Open uses, synced to the disk, and in the place of what an earlier try
// has left.
func createStore(ctx context.Context, path string, settings settings) error {
	if err := createFile(path); err != nil {
		return err
	}
	fresh := &Store{path: path, settings: settings}
	db, err := fresh.connect("_journal_mode=WAL", 1)
	if err != nil {
		return err
	}
	defer db.Close()
	conn, err := db.Conn(ctx)
	if err != nil {
		return asTyped(path, err)
	}
	defer conn.Close()
	if err := migrate(ctx, conn, path, settings.migrations, settings.least); err != nil {
		return err
	}
	if err := checkpoint(ctx, conn); err != nil {
		return asTyped(path, err)
	}
	return nil
}

// createFile makes an empty file that its owner alone can read. SQLite gives its other files the same mode.
func createFile(path string) error {
	for _, name := range []string{path, path + "-wal", path + "-shm"} {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("sqlite: %w", err)
		}
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("sqlite: %w", err)
	}
	return file.Close()
}

// renameInto gives a file its name, also after a loss of power.
func renameInto(from, to string) error {
	if err := os.Rename(from, to); err != nil {
		return fmt.Errorf("sqlite: %w", err)
	}
	return syncFolder(filepath.Dir(to))
}
