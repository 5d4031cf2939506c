package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"sync"
)

// readers are the connections that read. They prepare each query once.
type readers struct {
	db       *sql.DB
	mu       sync.Mutex
	prepared map[string]*sql.Stmt
}

func (r *readers) query(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	statement, err := r.statement(ctx, text)
	if err != nil {
		return nil, err
	}
	return statement.QueryContext(ctx, args...)
}

func (r *readers) statement(ctx context.Context, text string) (*sql.Stmt, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if known := r.prepared[text]; known != nil {
		return known, nil
	}
	statement, err := r.db.PrepareContext(ctx, text)
	if err != nil {
		return nil, err
	}
	if r.prepared == nil {
		r.prepared = map[string]*sql.Stmt{}
	}
	r.prepared[text] = statement
	return statement, nil
}

// close closes the connections, which their statements would keep open.
func (r *readers) close() (err error) {
	if r.db == nil {
		return nil
	}
	for _, statement := range r.prepared {
		err = errors.Join(err, statement.Close())
	}
	return errors.Join(err, r.db.Close())
}
