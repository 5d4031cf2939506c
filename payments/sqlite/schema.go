package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"hash/crc32"
	"math"
	"slices"
	"strconv"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/payments"
)

// applicationID marks a file as a store of payments, in the header of SQLite. It is "mmpy" in ASCII.
const applicationID = 0x6d6d7079

// migrations lead from each version of the schema to the next. The first makes an empty file version 1. A version that
// was released never changes. A program does not open a file of a later version than it knows, so a migration keeps
// older programs out. What they can leave alone needs none: a later version can add a table beside these.
var migrations = [][]string{version1, version2}

// The versions of the schema. Open brings a file to the first one, and a payment that counts to the second.
const (
	basic   = 1
	tallied = 2
)

// version1 has a row for each payment.
//
// due is in microseconds since 1970. turn is the order of rows of WorkBegin. change is
// the position. sum is the checksum of the row. The indexes of open work have no finished payments. counts is kept by
// triggers, so that it agrees with the rows whatever writes them.
var version1 = []string{
	`CREATE TABLE payments (
	id INTEGER PRIMARY KEY,
	key TEXT NOT NULL UNIQUE,
	account TEXT NOT NULL,
	state TEXT NOT NULL,
	work INTEGER NOT NULL,
	due INTEGER NOT NULL,
	turn INTEGER NOT NULL,
	change INTEGER NOT NULL UNIQUE,
	data BLOB NOT NULL,
	sum INTEGER NOT NULL
) STRICT`,
	`CREATE INDEX payments_state ON payments (state, key)`,
	`CREATE INDEX payments_account ON payments (account, state, key)`,
	`CREATE INDEX payments_due ON payments (work, due, key) WHERE work <> 0`,
	`CREATE INDEX payments_turn ON payments (turn, key, due, account) WHERE work = 1`,
	`CREATE TABLE counts (state TEXT PRIMARY KEY, payments INTEGER NOT NULL) STRICT, WITHOUT ROWID`,
	`CREATE TRIGGER payments_inserted AFTER INSERT ON payments BEGIN
	INSERT INTO counts VALUES (new.state, 1) ON CONFLICT DO UPDATE SET payments = payments + 1;
END`,
	`CREATE TRIGGER payments_updated AFTER UPDATE OF state ON payments WHEN old.state <> new.state BEGIN
	UPDATE counts SET payments = payments - 1 WHERE state = old.state;
	INSERT INTO counts VALUES (new.state, 1) ON CONFLICT DO UPDATE SET payments = payments + 1;
END`,
	`CREATE TRIGGER payments_deleted AFTER DELETE ON payments BEGIN
	UPDATE counts SET payments = payments - 1 WHERE state = old.state;
END`,
	// opened is how often the store was opened: epochs begin with it. in_use says that it was not closed since.
	`CREATE TABLE uses (
	id INTEGER PRIMARY KEY CHECK (id = 1), opened INTEGER NOT NULL, in_use INTEGER NOT NULL
) STRICT`,
	`INSERT INTO uses VALUES (1, 0, 0)`,
}

// migrate brings an open file to a version or leaves it at a later one, in one transaction.
func migrate(ctx context.Context, conn *sql.Conn, path string, migrations [][]string, least int) error {
	version, _, err := versionOf(ctx, conn, path, len(migrations))
	if err != nil || version >= least {
		return err
	}
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return asTyped(path, err)
	}
	defer tx.Rollback() //nolint:errcheck // after a commit there is nothing to roll back
	if err := migrateIn(ctx, tx, migrations, least); err != nil {
		return asTyped(path, err)
	}
	return asTyped(path, tx.Commit())
}

// executor is a transaction, or a connection that has one.
type executor interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// migrateIn brings a file to a version or leaves it at a later one, in the transaction of an executor.
func migrateIn(ctx context.Context, in executor, migrations [][]string, least int) error {
	var version int
	if err := in.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return err
	}
	restored := version & restoredFlag
	if version &^= restoredFlag; version >= least {
		return nil
	}
	for _, migration := range migrations[version:least] {
		for _, statement := range migration {
			if _, err := in.ExecContext(ctx, statement); err != nil {
				return fmt.Errorf("migration from version %d: %w", version, err)
			}
		}
	}
	_, err := in.ExecContext(ctx,
		fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d", applicationID, least|restored))
	return err
}

// versionOf returns the version of an open file, and restoredFlag if it has that. It refuses one that is not known.
func versionOf(ctx context.Context, conn *sql.Conn, path string, known int) (version, restored int, err error) {
	var id int
	if err := conn.QueryRowContext(ctx, "PRAGMA application_id").Scan(&id); err != nil {
		return 0, 0, asTyped(path, err)
	}
	if err := conn.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return 0, 0, asTyped(path, err)
	}
	restored = version & restoredFlag
	switch version &^= restoredFlag; {
	case version < 0:
		return 0, 0, &Damaged{Path: path, Problems: []string{fmt.Sprintf("it has version %d of the schema", version)}}
	case version > known && id == applicationID:
		return 0, 0, &Newer{Path: path, Version: version, Known: known}
	}
	return version, restored, nil
}

// checkSchema compares the tables of a file with those that the migrations to its version make. Other tables, which a
// later version has added, are left alone.
func checkSchema(ctx context.Context, conn *sql.Conn, path string, migrations [][]string) error {
	version, _, err := versionOf(ctx, conn, path, len(migrations))
	if err != nil {
		return err
	}
	got, err := objects(ctx, conn)
	if err != nil {
		return asTyped(path, err)
	}
	memory, err := sql.Open("sqlite", "file::memory:")
	if err != nil {
		return err
	}
	defer memory.Close()
	fresh, err := memory.Conn(ctx)
	if err != nil {
		return err
	}
	defer fresh.Close()
	if err := migrate(ctx, fresh, ":memory:", migrations, version); err != nil {
		return err
	}
	want, err := objects(ctx, fresh)
	if err != nil {
		return err
	}
	got = slices.DeleteFunc(got, func(o object) bool {
		return !slices.ContainsFunc(want, func(known object) bool { return known.table == o.table })
	})
	if !slices.Equal(got, want) {
		return &Damaged{Path: path, Problems: []string{"its tables are not those of this version of the schema"}}
	}
	return nil
}

// object is a table, or an index or a trigger of a table.
type object struct{ table, text string }

func objects(ctx context.Context, conn *sql.Conn) (found []object, err error) {
	rows, err := conn.QueryContext(ctx, "SELECT tbl_name, type || ' ' || name || ': ' || coalesce(sql, '') "+
		"FROM sqlite_schema WHERE name NOT LIKE 'sqlite_stat%' ORDER BY type, name")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var one object
		if err := rows.Scan(&one.table, &one.text); err != nil {
			return nil, err
		}
		found = append(found, one)
	}
	return found, rows.Err()
}

// columns are what a row is read from.
const columns = "key, account, state, work, due, change, data, sum"

// row is a payment in the file.
type row struct {
	key     moneymovement.Key
	account dapi.ClientID
	state   moneymovement.PaymentState
	work    payments.Work
	due     int64 // in microseconds
	change  int64
	text    []byte // of the record
}

// rowOf returns the row of a record, but for its change.
func rowOf(r *payments.Record) (row, error) {
	text, err := r.Encode()
	return row{key: r.Key, account: r.Account, state: r.State, work: r.Work(), due: toMicros(r.Due), text: text}, err
}

// record returns what is stored in a row.
func (r *row) record() payments.Record {
	record := payments.Decode(r.key, r.text)
	record.Due, record.Position = toTime(r.due), position(r.change)
	return record
}

// scanned reads a row, and compares it with its checksum.
func (s *Store) scanned(scan func(...any) error) (row, error) {
	var r row
	var sum int64
	if err := scan(&r.key, &r.account, &r.state, &r.work, &r.due, &r.change, &r.text, &sum); err != nil {
		return row{}, err
	}
	if sum != r.checksum() {
		return row{}, &Damaged{Path: s.path, Problems: []string{
			fmt.Sprintf("the payment with the key %q differs from its checksum", r.key),
		}}
	}
	return r, nil
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checksum covers what decides about money, and not what only orders the work.
func (r *row) checksum() int64 {
	head := fmt.Appendf(nil, "%q%q%q%d:", string(r.key), string(r.account), string(r.state), r.work)
	return int64(crc32.Update(crc32.Checksum(head, castagnoli), castagnoli, r.text))
}

func position(change int64) payments.Position {
	return payments.Position(strconv.FormatInt(change, 10))
}

// The years that fit into the microseconds of an int64.
var earliest, latest = time.UnixMicro(math.MinInt64), time.UnixMicro(math.MaxInt64 - 1)

// toMicros rounds up, so that nothing is due too soon.
func toMicros(t time.Time) int64 {
	switch {
	case t.Before(earliest):
		return math.MinInt64
	case t.After(latest):
		return math.MaxInt64
	}
	return t.Add(time.Microsecond - 1).UnixMicro()
}

func toTime(micros int64) time.Time { return time.UnixMicro(micros).UTC() }
