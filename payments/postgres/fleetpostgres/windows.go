// Package fleetpostgres shares the session and the rate windows of one credential between any number of processes,
// over PostgreSQL. See package fleet for what holds, and what holds approximately.
//
// [Migrate] creates two tables and a function in a schema of your choice, which can be that of payments/postgres.
// [NewTokenStore] is for [dapi.Developer].Store: one process logs in or refreshes the token while it holds a lock, and
// the others take the session from the table. The lock ends by itself if its owner dies. [NewLimiter] is for
// moneymovement.WithRateLimiter: one statement reserves slots in the window, by the database's clock, while it holds
// the row of the window.
//
// # The server
//
// PostgreSQL 13 or later. The isolation read committed, the default, works best: with a higher default, processes get
// in each other's way, and repeat their requests. Transaction poolers can be used, because nothing depends on a
// connection. The table of windows is unlogged: a request does not wait for the disk. A crash or a failover empties it:
// the processes report the calls that still count, and up to one window more can go through. The table of sessions is
// logged.
//
// Rows of windows that count nothing any more are deleted now and then. The user who calls Migrate needs the right
// to create what is missing. Other users need USAGE on the schema, SELECT, INSERT, UPDATE and DELETE on the two tables,
// and EXECUTE on the function.
//
// A session in the table is as secret as a password: use TLS, access rules, and [WithEncryption].
package fleetpostgres

import (
	"cmp"
	"context"
	"crypto/rand"
	_ "embed" // of the tables and the function
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/fleet"
	"github.com/moneymovement/moneymovement-go/payments/postgres/internal/sqlname"
)

var (
	//go:embed schema.sql
	tables string
	//go:embed take.sql
	function string
)

// DefaultSchema is the schema of the tables, unless the program names another one.
const DefaultSchema = "moneymovement"

// DB runs statements. *pgxpool.Pool is a DB. It must be safe for concurrent use, so a single connection will not do.
type DB interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
	Begin(ctx context.Context) (pgx.Tx, error)
}

// migrationLock is the key of the advisory lock that a migration holds, so that many processes can start at once.
const migrationLock = 0x6d6f6e6579 // "money"

// Migrate creates the schema, its two tables and its function, or brings them up to date. It can run at each start of
// each process, and changes nothing that is there. If schema is empty, it is [DefaultSchema]. A name has up to 63 bytes
// of text that can be printed, and no dollar sign. The user of db needs the right to create what is missing, and none
// if all is there.
func Migrate(ctx context.Context, db DB, schema string) error {
	named, err := schemaOf(schema)
	if err != nil {
		return err
	}
	return pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock($1)", int64(migrationLock)); err != nil {
			return err
		}
		var schemaExists, allExists bool
		_, body, _ := strings.Cut(named.In(function), "$take$")
		body, _, _ = strings.Cut(body, "$take$")
		err := tx.QueryRow(ctx, selectPresent, named.String(), body).Scan(&schemaExists, &allExists)
		if err != nil || allExists {
			return err
		}
		statements := []string{tables, function}
		if !schemaExists {
			statements = append([]string{"CREATE SCHEMA {schema}"}, statements...)
		}
		for _, statement := range statements {
			if _, err := tx.Exec(ctx, named.In(statement)); err != nil {
				return err
			}
		}
		return nil
	})
}

// selectPresent selects what is there already. IF NOT EXISTS asks for the right to create first.
const selectPresent = `
SELECT EXISTS (SELECT FROM pg_catalog.pg_namespace WHERE nspname = $1),
	(SELECT count(*) FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
		WHERE n.nspname = $1 AND c.relname IN ('fleet_session', 'fleet_window', 'fleet_window_ends')) = 3
	AND EXISTS (SELECT FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
		WHERE n.nspname = $1 AND p.proname = 'fleet_take_1' AND p.prosrc = $2)`

// schemaOf returns the schema with a name. It refuses a text that cannot be one.
func schemaOf(schema string) (sqlname.Schema, error) {
	return sqlname.Check(cmp.Or(schema, DefaultSchema))
}

// Windows counts the calls of rate windows in a database. It is safe for concurrent use.
type Windows struct {
	db   DB
	take string
}

// NewWindows returns the windows in a schema, which [Migrate] made. If schema is empty, it is [DefaultSchema]. The
// error says that schema cannot be the name of one.
func NewWindows(db DB, schema string) (*Windows, error) {
	named, err := schemaOf(schema)
	if err != nil {
		return nil, err
	}
	return &Windows{
		db: db,
		take: named.In("SELECT o_log, o_next, o_given, o_room, o_others FROM " +
			"{schema}.fleet_take_1($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)"),
	}, nil
}

// NewLimiter returns a limiter that shares the rate windows of a credential with all processes that use the same
// database and schema. credential is the result of [dapi.Developer.Credential]. If schema is empty, it is
// [DefaultSchema]. Call [Migrate] before. Pass the limiter to moneymovement.WithRateLimiter.
func NewLimiter(db DB, schema, credential string, options ...fleet.Option) (*fleet.Limiter, error) {
	if db == nil {
		return nil, &errors.InvalidInput{CallInfo: errors.CallInfo{Operation: "NewLimiter"},
			Fields: []errors.Field{{Field: "database", Code: errors.FieldMissing,
				Message: "is nil: make one with pgxpool.New"}}}
	}
	windows, err := NewWindows(db, schema)
	if err != nil {
		return nil, err
	}
	return fleet.NewLimiter(windows, credential, options...)
}

// withAdvice adds what to do if the tables or the function are missing.
func withAdvice(err error) error {
	if refused, ok := errors.AsType[*pgconn.PgError](err); ok {
		switch refused.Code {
		case "3F000", "42P01", "42883": // no schema, no table, no function
			return fmt.Errorf("call fleetpostgres.Migrate, or name the schema that it has made: %w", err)
		case "42501":
			return fmt.Errorf("let the owner of the schema grant the rights that the documentation of package "+
				"fleetpostgres lists: %w", err)
		}
	}
	return err
}

// maxTries is how often a request is made if another transaction gets in the way, which happens only if the database's
// default isolation is above read committed.
const maxTries = 5

// Reserve implements [fleet.Windows] with one statement, by the clock of the database.
func (w *Windows) Reserve(ctx context.Context, request fleet.Request) (reservation fleet.Reservation, err error) {
	for range maxTries {
		reservation, err = w.reserve(ctx, &request)
		if conflict, ok := errors.AsType[*pgconn.PgError](err); !ok || conflict.Code != "40001" {
			break
		}
	}
	return reservation, err
}

func (w *Windows) reserve(ctx context.Context, request *fleet.Request) (reservation fleet.Reservation, err error) {
	waiting := make([]int32, len(request.Waiting))
	for r, calls := range request.Waiting {
		waiting[r] = int32(calls) //gosec:disable G115 -- not more than there are goroutines
	}
	unused := request.Unused
	if unused == nil {
		unused = []int64{}
	}
	past := make([]int64, len(request.Past))
	for i, age := range request.Past {
		past[i] = age.Microseconds()
	}
	var (
		next          int64
		granted, room []int64
		others        []int32
	)
	err = w.db.QueryRow(ctx, w.take, request.Key, request.Process, request.Calls, request.Span.Microseconds(),
		request.Ahead.Microseconds(), waiting, request.Pressed, request.Overdue, request.WindowID, rand.Text(), unused,
		past).Scan(&reservation.WindowID, &next, &granted, &room, &others)
	if err != nil {
		return fleet.Reservation{}, withAdvice(err)
	}
	reservation.Next = time.Duration(next) * time.Microsecond
	for i := 0; i+1 < len(granted); i += 2 {
		reservation.Slots = append(reservation.Slots,
			fleet.Slot{Mark: granted[i], In: time.Duration(granted[i+1]) * time.Microsecond})
	}
	for _, after := range room {
		reservation.Free = append(reservation.Free, time.Duration(after)*time.Microsecond)
	}
	for r, calls := range others {
		reservation.Others[r] = int(calls)
	}
	return reservation, nil
}
