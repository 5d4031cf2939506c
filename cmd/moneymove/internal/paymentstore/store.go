package paymentstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/spf13/cobra"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/app"
	"github.com/moneymovement/moneymovement-go/payments"
	"github.com/moneymovement/moneymovement-go/payments/postgres"
	"github.com/moneymovement/moneymovement-go/payments/sqlite"
)

// store is where the payments are.
type store struct {
	app    *app.App
	name   string // a file, or a URL of PostgreSQL
	schema string
	opened payments.Store // while it is open
}

// flags gives a command the flags of the store.
func (s *store) flags(command *cobra.Command) {
	set := command.Flags()
	set.StringVar(&s.name, "store", "", "`where` the payments are: a file of package payments/sqlite, such as "+
		"payments.db, which no other process can have open; or a database of package payments/postgres, such as "+
		"postgres://user@host/database. It has no password: PostgreSQL's PGPASSFILE, PGPASSWORD or PGSERVICE has it")
	set.StringVar(&s.schema, "schema", postgres.DefaultSchema, "`schema` of the tables, in PostgreSQL")
	_ = command.MarkFlagFilename("store")
}

// isPostgreSQL reports whether the store is a database, which others have open at the same time.
func (s *store) isPostgreSQL() bool {
	scheme, _, isURL := strings.Cut(s.name, "://")
	return isURL && (scheme == "postgres" || scheme == "postgresql")
}

// Names that look like a URL that is not written in full, or that have libpq's own form. They may have a password, so
// no error repeats them. A drive of Windows has one letter.
var (
	almostURL   = regexp.MustCompile(`(?i)^\s*postgres(ql)?(:|//)|^[^/\\]{2,}:.*@`)
	hasPassword = regexp.MustCompile(`(?i)password\s*=`)
)

// open opens the store, and calls do with a processor that pays nothing. Without services, it only reads and decides.
func (s *store) open(ctx context.Context, do func(*payments.Processor) error) error {
	return s.openWith(ctx, payments.Services{}, do)
}

func (s *store) openWith(
	ctx context.Context, services payments.Services, do func(*payments.Processor) error,
) (err error) {
	var closed func() error
	switch {
	case s.name == "":
		return app.Usagef("-store is missing: name the file or the database in which the program keeps its payments")
	case s.isPostgreSQL():
		s.opened, closed, err = s.openPostgreSQL(ctx)
	case strings.Contains(s.name, "://"):
		return app.Usagef("-store must be a file, or a URL of PostgreSQL that begins with postgres://")
	case almostURL.MatchString(s.name), hasPassword.MatchString(s.name):
		return app.Usagef("-store is not a file, and not a URL of PostgreSQL in full: write it as " +
			"postgres://user@host/database, without a password")
	default:
		s.opened, closed, err = s.openFile(ctx)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closed()) }()
	processor, err := payments.New(s.opened, services, payments.Config{})
	if err != nil {
		return err
	}
	return do(processor)
}

func (s *store) openFile(ctx context.Context) (payments.Store, func() error, error) {
	file, err := sqlite.Open(ctx, s.name, sqlite.MustExist())
	if errors.Is(err, fs.ErrNotExist) {
		if strings.Contains(s.name, "=") {
			return nil, nil, app.Usagef("-store: there is no file %s; a database is written as postgres://..., such as "+
				"postgres://user@host/database or postgres://?service=name", s.name)
		}
		return nil, nil, app.Usagef("-store: there is no file %s", s.name)
	}
	if busy, ok := errors.AsType[*sqlite.InUse](err); ok {
		holder := "a program"
		if busy.Process > 0 {
			holder = fmt.Sprintf("process %d", busy.Process)
		}
		return nil, nil, fmt.Errorf("%s has %s open, and one process has it at a time: stop it first, or let it show "+
			"its payments itself, with package payments/console", holder, s.name)
	}
	if err != nil {
		return nil, nil, err
	}
	return file, file.Close, nil
}

// connectWithin is how long a connection to PostgreSQL may take, unless its settings say something else.
const connectWithin = 15 * time.Second

func (s *store) openPostgreSQL(ctx context.Context) (payments.Store, func() error, error) {
	config, err := s.settings()
	if err != nil {
		return nil, nil, err
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, nil, fmt.Errorf("-store: %w", err)
	}
	database, err := postgres.Open(ctx, pool, postgres.Options{Schema: s.schema})
	if err != nil {
		pool.Close()
		return nil, nil, s.explained(err)
	}
	return database, func() error { pool.Close(); return nil }, nil
}

// settings reads the URL, and what the environment and PostgreSQL's own files say. No error of it has the URL: a person
// may have put a password where none belongs.
func (s *store) settings() (*pgxpool.Config, error) {
	at, err := url.Parse(s.name)
	decoded, wrong := url.QueryUnescape(s.name)
	if err != nil || wrong != nil {
		return nil, app.Usagef("-store is not a URL: write it as postgres://user@host:5432/database, with %%40 for an @ " +
			"within a name")
	}
	if err := safeToRepeat(s.name, decoded, at); err != nil {
		return nil, err
	}
	config, err := pgxpool.ParseConfig(s.name)
	if err != nil {
		if wrong, ok := errors.AsType[*pgconn.ParseConfigError](err); ok && wrong.Unwrap() != nil {
			err = wrong.Unwrap()
		}
		return nil, app.Usagef("-store, or PostgreSQL's settings in the environment: %w", err)
	}
	if config.ConnConfig.ConnectTimeout == 0 {
		config.ConnConfig.ConnectTimeout = connectWithin
	}
	if config.ConnConfig.RuntimeParams["application_name"] == "" {
		config.ConnConfig.RuntimeParams["application_name"] = "moneymove"
	}
	config.MaxConns = 2
	return config, nil
}

// safeToRepeat refuses a URL with a password. The errors of connecting repeat its user and its database, so a password
// must not hide in them either.
func safeToRepeat(text, decoded string, at *url.URL) error {
	_, has := at.User.Password()
	for name := range at.Query() {
		has = has || strings.Contains(strings.ToLower(name), "password")
	}
	if has || hasPassword.MatchString(decoded) {
		return app.Usagef("-store has a password, which others on this machine can read in the list of " +
			"processes: leave it out, and put it into the file of PGPASSFILE (~/.pgpass), PGPASSWORD, or " +
			"a service of PGSERVICE")
	}
	for _, user := range append(at.Query()["user"], at.User.Username()) {
		if strings.ContainsAny(user, "= \t\r\n") {
			return app.Usagef("-store has a user name with a blank or =, which may be more than a name: give it " +
				"with PGUSER, if it is right")
		}
	}
	_, rest, _ := strings.Cut(text, "://")
	if host := strings.IndexAny(rest, "/?#"); host >= 0 && strings.Contains(rest[host:], "@") {
		return app.Usagef("-store has an @ after its host, so part of a password may stand there: leave the password " +
			"out, and write %%40 for an @ within a name")
	}
	return nil
}

// explained says how to mend an error of opening. The command never changes the tables of a running system.
func (s *store) explained(err error) error {
	if _, missing := errors.AsType[*postgres.SchemaMissing](err); missing {
		return app.Usagef("-schema: there are no payments in the schema %q, or your role may not use it, or "+
			"postgres.Migrate has not run: name the schema that the program gives to postgres.Open", s.schema)
	}
	if _, old := errors.AsType[*postgres.SchemaTooOld](err); old {
		return fmt.Errorf("%w; this command does not change tables: let your deployment do it, or use the version of "+
			"this command that the program has", err)
	}
	if _, away := errors.AsType[*postgres.Unreachable](err); away {
		return &app.Failure{Code: app.ExitUnreachable, Err: err}
	}
	return err
}
