package postgres

import (
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/moneymovement/moneymovement-go/internal/errorbase"
)

// SchemaMissing says that a schema does not have the tables of payments.
type SchemaMissing struct{ Schema string }

// Error returns one line, safe to log.
func (e *SchemaMissing) Error() string {
	return errorbase.Textf(e, "the schema %q does not have the tables of payments, or the role may not use it: "+
		"call postgres.Migrate, or name another schema", e.Schema)
}

// RightMissing says that the role of the connections lacks a right that paying needs.
type RightMissing struct {
	// Role is the role, Right the right, such as UPDATE, and On the schema, table or sequence.
	Role, Right, On string

	kind string
}

// Error returns one line, safe to log.
func (e *RightMissing) Error() string {
	return errorbase.Textf(e, "the role %q lacks the right %s on the %s %q: let its owner run GRANT %[2]s ON %[5]s "+
		"%[4]s TO the role", e.Role, e.Right, e.kind, e.On, strings.ToUpper(e.kind))
}

// SchemaTooOld says that the tables are of an earlier revision than this program needs.
type SchemaTooOld struct {
	Schema string
	// Version is the revision of the tables, and Known the one that this program needs.
	Version, Known int
}

// Error returns one line, safe to log.
func (e *SchemaTooOld) Error() string {
	return errorbase.Textf(e, "the tables in the schema %q are of revision %d, and this program needs revision %d: "+
		"call postgres.Migrate", e.Schema, e.Version, e.Known)
}

// SchemaTooNew says that this program is too old for the tables: they need a later version than it knows.
type SchemaTooNew struct {
	Schema string
	// Version is the version that the tables need, and Known the latest that this program knows.
	Version, Known int
}

// Error returns one line, safe to log.
func (e *SchemaTooNew) Error() string {
	return errorbase.Textf(e,
		"the tables in the schema %q need version %d, and this program knows versions up to %d: "+
			"use a later version of the module", e.Schema, e.Version, e.Known)
}

// Unreachable says that the database could not be reached, or that the connection was lost. What was being written may
// or may not be stored. Trying again is safe, once the database can be reached.
type Unreachable struct {
	// Err is the error of the connection.
	Err error
}

// Error returns one line. It has no password in it.
func (e *Unreachable) Error() string {
	return errorbase.Text(e,
		"the database cannot be reached, try again: "+strings.Join(strings.Fields(e.Err.Error()), " "))
}

// Unwrap returns Err.
func (e *Unreachable) Unwrap() error { return e.Err }

// asUnreachable returns an error that says whether the connection was lost.
func asUnreachable(err error) error {
	if err == nil || !connectionLost(err) {
		return err
	}
	return &Unreachable{Err: err}
}

// connectionLost reports whether an error is of the connection, and not a response of the database.
func connectionLost(err error) bool {
	if refused, ok := errors.AsType[*pgconn.PgError](err); ok {
		switch refused.Code {
		case "57P01", "57P02", "57P03", "57P05": // the server shuts down, has crashed, or starts
			return true
		}
		return len(refused.Code) == 5 && refused.Code[:2] == "08"
	}
	if _, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		return true
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return false // the caller's time was up
	}
	_, network := errors.AsType[net.Error](err)
	return network || pgconn.Timeout(err) || errors.Is(err, net.ErrClosed) || endOfStream(err)
}

// endOfStream reports a connection that the other side has closed.
func endOfStream(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

// hasCode reports whether the database refused a statement with one of the codes.
func hasCode(err error, codes ...string) bool {
	refused, ok := errors.AsType[*pgconn.PgError](err)
	return ok && slices.Contains(codes, refused.Code)
}
