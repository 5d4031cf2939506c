package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/moneymovement/moneymovement-go/payments"
)

// Store keeps payments in a file. It is safe for concurrent use. Make it with [Open].
type Store struct {
	path     string // with no symbolic links
	settings settings
	lock     *lockFile
	readers  readers
	writers  *sql.DB // of one connection
	writer   *writer
	leases   *leases
	turn     atomic.Int64 // the last turn that was claimed

	restoredFrom atomic.Pointer[time.Time] // as the file says; nil or zero if it was not restored
	queue        chan *request
	done         chan struct{} // closed when the writer has ended
	failed       atomic.Pointer[error]
	files        map[string]fs.FileInfo // that are open, by their paths

	closing sync.RWMutex
	closed  bool
}

var _ payments.Store = (*Store)(nil)

// Close waits for the calls that write, and closes the file. The leases of the store end. It returns an error if the
// last changes could not be moved from the log into the file: nothing is lost, the next Open does it. A second Close
// does nothing.
func (s *Store) Close() error {
	s.closing.Lock()
	if s.closed {
		s.closing.Unlock()
		return nil
	}
	s.closed = true
	close(s.queue)
	s.closing.Unlock()
	<-s.done
	var err error
	if s.failed.Load() == nil {
		err = asTyped(s.path, s.writer.markClosed())
	}
	return errors.Join(err, s.release())
}

// markClosed stores that the file was closed in order, and empties the log.
func (w *writer) markClosed() error {
	ctx := context.Background()
	if _, err := w.conn.ExecContext(ctx, "UPDATE uses SET in_use = 0"); err != nil {
		return err
	}
	if err := checkpoint(ctx, w.conn); err != nil {
		return err
	}
	return setKeepLog(w.conn, false)
}

// release closes what is open. SQLite removes the log with the last connection.
func (s *Store) release() error {
	var errs []error
	errs = append(errs, s.readers.close())
	if s.writer != nil {
		errs = append(errs, s.writer.close())
	}
	if s.writers != nil {
		errs = append(errs, s.writers.Close())
	}
	return errors.Join(append(errs, s.lock.release())...)
}

// noteFiles notes which files are open.
func (s *Store) noteFiles() error {
	s.files = map[string]fs.FileInfo{}
	for _, path := range []string{s.path, s.path + "-wal", s.path + "-shm", s.path + ".lock"} {
		info, err := os.Stat(path)
		if err != nil {
			return fmt.Errorf("sqlite: %w", err)
		}
		s.files[path] = info
	}
	return nil
}

// checkInPlace returns an error if a file that is open is not at its path any more. The system lets anybody remove it:
// what is then written is gone when the process ends.
func (s *Store) checkInPlace() error {
	for path, open := range s.files {
		if now, err := os.Stat(path); err != nil || !os.SameFile(open, now) {
			return &Removed{Path: s.path, File: path}
		}
	}
	return nil
}

// checkUsable returns an error if what is read now must not be acted on: a file is gone, or the store is closed.
func (s *Store) checkUsable(ctx context.Context) error {
	err := s.checkInPlace()
	if closed := s.checkOpen(ctx); closed != nil { // which removes the log
		return closed
	}
	if err != nil {
		return s.recordFailure(err)
	}
	return nil
}

// checkOpen returns an error if nothing can be read now.
func (s *Store) checkOpen(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.closing.RLock()
	defer s.closing.RUnlock()
	if s.closed {
		return &Closed{Path: s.path}
	}
	return nil
}

// readError returns an error of a reader as one of this package.
func (s *Store) readError(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if ended := ctx.Err(); ended != nil { // SQLite says that it was interrupted
		return ended
	}
	if closed := s.checkOpen(ctx); closed != nil { // meanwhile
		return closed
	}
	return asTyped(s.path, err)
}
