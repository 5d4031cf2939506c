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
	queue    chan *request
	done     chan struct{} // closed when the writer has ended
	failed   atomic.Pointer[error]
	files    map[string]fs.FileInfo // that are open, by their paths

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
		err = typed(s.path, s.writer.leave())
	}
	return errors.Join(err, s.release())
}

// leave stores that the file was closed in order, and empties the log.
func (w *writer) leave() error {
	ctx := context.Background()
	if _, err := w.conn.ExecContext(ctx, "UPDATE uses SET in_use = 0"); err != nil {
		return err
	}
	if err := checkpoint(ctx, w.conn); err != nil {
		return err
	}
	return keepLog(w.conn, false)
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

// remember notes which files are open.
func (s *Store) remember() error {
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

// inPlace returns an error if a file that is open is not at its path any more. The system lets anybody remove it: what
// is then written is gone when the process ends.
func (s *Store) inPlace() error {
	for path, open := range s.files {
		if now, err := os.Stat(path); err != nil || !os.SameFile(open, now) {
			return &Removed{Path: s.path, File: path}
		}
	}
	return nil
}

// trusted returns an error if nothing that is read now can be acted on.
func (s *Store) trusted(ctx context.Context) error {
	err := s.inPlace()
	if closed := s.reading(ctx); closed != nil { // which removes the log
		return closed
	}
	if err != nil {
		return s.failing(err)
	}
	return nil
}

// reading returns an error if nothing can be read now.
func (s *Store) reading(ctx context.Context) error {
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

// read returns an error of a reader as one of this package.
func (s *Store) read(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if ended := ctx.Err(); ended != nil { // SQLite says that it was interrupted
		return ended
	}
	if closed := s.reading(ctx); closed != nil { // meanwhile
		return closed
	}
	return typed(s.path, err)
}
