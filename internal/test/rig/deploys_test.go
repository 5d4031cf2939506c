package rig_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/internal/test/rig"
	"github.com/moneymovement/moneymovement-go/internal/testkit"
	"github.com/moneymovement/moneymovement-go/payments"
	"github.com/moneymovement/moneymovement-go/payments/postgres"
	"github.com/moneymovement/moneymovement-go/payments/sqlite"
)

// The programs of two commits share a store, and a store goes back to a copy.

// earlier is the program of the commit before HEAD.
type earlier struct {
	worker  string // the binary of its tests, which is the worker
	migrate string // a program that makes its tables in the database of its argument
	why     string // says why there is no such program; empty if there is one
	err     error
}

// earlierProgram builds it once.
var earlierProgram = sync.OnceValue(buildEarlier)

// migration makes the tables of the commit that it is built in.
const migration = `package main

import (
	"context"
	"log"
	"os"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/moneymovement/moneymovement-go/payments/postgres"
)

func main() {
	ctx := context.Background()
	pool, err := pgxpool.New(ctx, os.Args[1])
	if err == nil {
		err = postgres.Migrate(ctx, pool, "")
	}
	if err == nil {
		err = postgres.MigrateRiver(ctx, pool, "")
	}
	if err != nil {
		log.Fatal(err)
	}
}
`

func buildEarlier() (built earlier) {
	if err := exec.Command("git", "rev-parse", "--verify", "--quiet", "HEAD~1^{commit}").Run(); err != nil {
		built.why = "the commit before HEAD is not here: run it in a clone with its history (git fetch --unshallow)"
		return built
	}
	folder, err := os.MkdirTemp("", "earlier")
	if err != nil {
		return earlier{err: err}
	}
	removeAtEnd = append(removeAtEnd, folder)
	top, err := exec.Command("git", "rev-parse", "--show-toplevel").Output()
	if err != nil {
		return earlier{err: err}
	}
	archive, tree := filepath.Join(folder, "tree.tar"), filepath.Join(folder, "tree")
	run := func(folder, name string, args ...string) {
		if err != nil {
			return
		}
		command := exec.Command(name, args...)
		command.Dir, command.Stderr = folder, os.Stderr
		command.Env = append(os.Environ(), "GOWORK="+filepath.Join(tree, "go.work"))
		err = command.Run()
	}
	built.worker, built.migrate = filepath.Join(folder, "worker"), filepath.Join(folder, "migrate")
	run(strings.TrimSpace(string(top)), "git", "archive", "--format=tar", "--prefix=tree/", "--output="+archive,
		"HEAD~1")
	run(folder, "tar", "-xf", archive)
	program := filepath.Join(tree, "internal", "test", "rig", "migration")
	if err == nil {
		err = os.Mkdir(program, 0o700)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(program, "main.go"), []byte(migration), 0o600)
	}
	run(filepath.Dir(program), "go", "test", "-c", "-trimpath", "-o", built.worker, ".")
	run(filepath.Dir(program), "go", "build", "-trimpath", "-o", built.migrate, "./migration")
	built.err = err
	return built
}

// ofBefore returns the program of the commit before.
func ofBefore(t *testing.T) earlier {
	t.Helper()
	testkit.Long(t, "builds the program of the commit before")
	built := earlierProgram()
	if built.why != "" {
		t.Skip(built.why)
	}
	require.NoError(t, built.err)
	return built
}

// swaps is how often the program changes on a file.
const swaps = 8

// The programs of two commits make the payments of a file in turns, and each is killed while it does.
func TestProgramsOfTwoCommitsOnSQLite(t *testing.T) {
	t.Parallel()
	before := ofBefore(t)
	w := newWorld(t, swaps*perKill+5)
	w.work.Engine, w.work.Store = onSQLite, filepath.Join(t.TempDir(), "payments.db")
	killer := killer{w, rig.RandomPauses(4, 0, 120*time.Millisecond)}
	for i := range swaps {
		w.program = []string{before.worker, ""}[i%2]
		killer.end(i, w.start((i+1)*perKill))
	}
	w.program = ""
	w.settle(settleWithin, w.start(w.work.All))
	w.check()
}

// The program of the commit before pays from its own tables. They are migrated meanwhile, the next program joins it and
// replaces it, then there is a way back, and forward again. The last worker of each turn is killed.
func TestProgramsOfTwoCommitsOnPostgreSQL(t *testing.T) {
	t.Parallel()
	before := ofBefore(t)
	const each = 25
	w := newWorld(t, 5*each)
	url := testkit.PostgreSQL(t).URL()
	output, err := exec.Command(before.migrate, url).CombinedOutput()
	require.NoError(t, err, "%s", output)
	w.onTables(w.connected(url), url)
	w.scaledLease()
	killer := killer{w, rig.RandomPauses(5, 0, 120*time.Millisecond)}
	begin := func(program string, to int) *running {
		w.program = program
		return w.start(to)
	}

	old := begin(before.worker, each)
	w.said(old, saidResumed, startWithin)
	require.NoError(t, postgres.Migrate(t.Context(), w.pool, ""))
	next := begin("", 2*each)
	killer.end(0, old)
	w.said(next, saidResumed, startWithin)

	again := begin(before.worker, 3*each)
	w.said(again, saidResumed, startWithin)
	killer.end(1, next)
	both := begin("", 4*each)
	killer.end(2, again)
	killer.end(3, both)
	back := begin(before.worker, 4*each)
	w.said(back, saidResumed, startWithin)
	last := begin("", w.work.All)
	w.settle(settleWithin, last, back)
	w.check()
}

// A program leaves payments alone that need a newer one, and pays the others.
func TestPaymentsOfANewerProgramAreLeftAlone(t *testing.T) {
	t.Parallel()
	for _, engine := range []string{onSQLite, onPostgres} {
		t.Run(engine, func(t *testing.T) {
			testkit.Long(t, "starts processes")
			const newer = 20
			w := newWorld(t, 30)
			if w.work.Engine, w.work.Store = onSQLite, filepath.Join(t.TempDir(), "payments.db"); engine == onPostgres {
				w.onPostgres(testkit.PostgreSQL(t).URL())
			}
			keys := map[string]payments.Record{}
			w.inStore(func(store payments.Store) {
				for n := range newer {
					record, err := payments.Prepare(w.work.payment(1000+n), time.Now().Add(-time.Hour))
					require.NoError(t, err)
					record.Needs = payments.RecordVersion + 1
					stored, inserted, err := store.Insert(t.Context(), record)
					require.NoError(t, err)
					require.True(t, inserted)
					keys[string(record.Key)], err = store.Load(t.Context(), stored.Key)
					require.NoError(t, err)
				}
			})
			w.settle(settleWithin, w.start(w.work.All))
			for audited := range w.host.Audit() {
				assert.NotContains(t, keys, audited.Key, "it was sent")
			}
			assert.Equal(t, w.work.All, w.settled())
			w.inStore(func(store payments.Store) {
				for _, before := range keys {
					after, err := store.Load(t.Context(), before.Key)
					require.NoError(t, err)
					assert.Equal(t, before, after)
				}
			})
		})
	}
}

// inStore opens the store, which no worker has, for a function.
func (w *world) inStore(do func(payments.Store)) {
	w.Helper()
	if w.work.Engine != onSQLite {
		table, err := postgres.Open(w.Context(), w.pool, postgres.Options{})
		require.NoError(w, err)
		do(table)
		return
	}
	file, err := sqlite.Open(w.Context(), w.work.Store)
	require.NoError(w, err)
	do(file)
	require.NoError(w, file.Close())
}

// An older copy is put in the place of a store while payments went on, and the service has forgotten all keys since.
// Whoever submitted the payments submits all of them again, and says nothing of their first use. Each is paid once.
func TestRestoredCopy(t *testing.T) {
	t.Parallel()
	for _, engine := range []string{onSQLite, onPostgres} {
		t.Run(engine, func(t *testing.T) {
			testkit.Long(t, "starts processes")
			const all = 60
			w := newWorld(t, all)
			var restore func()
			if w.work.Engine, w.work.Store = onSQLite, filepath.Join(t.TempDir(), "payments.db"); engine == onPostgres {
				w.onPostgres(testkit.PostgreSQL(t).URL())
				w.scaledLease()
			}
			first := w.start(all / 2)
			w.said(first, saidResumed, startWithin)
			<-w.host.At(rig.Moment{Number: 60}, first.Kill).Done()
			w.kill(first)
			if engine == onSQLite {
				restore = w.copyFile()
			} else {
				restore = w.dump()
			}
			w.settle(settleWithin, w.start(all))
			require.Equal(t, all, w.settled())

			w.host.ForgetKeys()
			restore()
			clear(w.returned)
			w.settle(settleWithin, w.start(all))
			w.check()
		})
	}
}

// copyFile makes a copy of the file, and returns how to go back to it. The copy says itself that it is one.
func (w *world) copyFile() (restore func()) {
	w.Helper()
	path := filepath.Join(w.TempDir(), "copy.db")
	w.inStore(func(store payments.Store) {
		require.NoError(w, store.(*sqlite.Store).Backup(w.Context(), path)) //nolint:forcetypeassert // of SQLite
	})
	return func() {
		for _, suffix := range []string{"-wal", "-shm"} {
			_ = os.Remove(w.work.Store + suffix)
		}
		require.NoError(w, os.Rename(path, w.work.Store))
	}
}

// dump makes a copy of the database with PostgreSQL's own program, and returns how to go back to it.
func (w *world) dump() (restore func()) {
	w.Helper()
	folder, copied := w.TempDir(), time.Now()
	runCommandOfThePage(w, "pg_dump", folder, w.work.Store)
	return func() {
		for _, program := range restoring {
			runCommandOfThePage(w, program, folder, w.work.Store)
		}
		w.pool.Reset()
		w.inStore(func(store payments.Store) {
			operator, err := payments.New(store, payments.Services{}, payments.Config{})
			require.NoError(w, err)
			require.NoError(w, operator.MarkRestored(w.Context(), copied))
		})
	}
}

// restoring are the programs that docs/deploys.md runs to go back to a dump, in their order.
var restoring = []string{"psql", "pg_restore"}

// A dump of before a migration goes into a database of after it, which has tables that the dump does not know. The
// rights that the dump knows are there again.
func TestDumpOfBeforeAMigration(t *testing.T) {
	t.Parallel()
	url, folder := testkit.PostgreSQL(t).URL(), t.TempDir()
	pool, err := pgxpool.New(t.Context(), url)
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	execute := func(statement string) {
		_, err := pool.Exec(context.WithoutCancel(t.Context()), statement)
		require.NoError(t, err)
	}
	execute("CREATE ROLE pay_restored")
	t.Cleanup(func() { execute("DROP OWNED BY pay_restored"); execute("DROP ROLE pay_restored") })
	text, err := os.ReadFile("../../../payments/postgres/schema/001.sql")
	require.NoError(t, err)
	execute("CREATE SCHEMA moneymovement")
	execute(`CREATE TABLE moneymovement.payments_schema (
		only_row boolean PRIMARY KEY CHECK (only_row), version integer NOT NULL, era integer NOT NULL)`)
	execute("INSERT INTO moneymovement.payments_schema VALUES (true, 1, 0)")
	execute(strings.ReplaceAll(string(text), "{schema}", "moneymovement"))
	execute("GRANT USAGE ON SCHEMA moneymovement TO pay_restored")
	execute("GRANT SELECT, INSERT, UPDATE ON moneymovement.payments TO pay_restored")
	runCommandOfThePage(t, "pg_dump", folder, url)

	require.NoError(t, postgres.Migrate(t.Context(), pool, ""))
	for _, program := range restoring {
		runCommandOfThePage(t, program, folder, url)
	}
	pool.Reset()
	_, err = postgres.Open(t.Context(), pool, postgres.Options{})
	require.ErrorAs(t, err, new(*postgres.SchemaTooOld))
	require.NoError(t, postgres.Migrate(t.Context(), pool, ""))
	store, err := postgres.Open(t.Context(), pool, postgres.Options{})
	require.NoError(t, err)
	require.NoError(t, store.MarkRestored(t.Context(), time.Now()))
	may := func(table string) (may bool) {
		row := pool.QueryRow(t.Context(), "SELECT has_schema_privilege('pay_restored', 'moneymovement', 'USAGE') AND "+
			"has_table_privilege('pay_restored', $1, 'INSERT')", "moneymovement."+table)
		require.NoError(t, row.Scan(&may))
		return may
	}
	assert.True(t, may("payments"))
	assert.False(t, may("tallies"), "the dump knows nothing of it")
}

// runCommandOfThePage runs a line of docs/deploys.md for a database, in a folder for the copy.
func runCommandOfThePage(t testing.TB, program, folder, url string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		testkit.Missing(t, "servers", program+" is missing: install PostgreSQL's client")
	}
	command := exec.Command("sh", "-ec", commandOfThePage(t, program))
	command.Dir, command.Env = folder, append(os.Environ(), "DATABASE_URL="+url)
	output, err := command.CombinedOutput()
	require.NoError(t, err, "%s", output)
}

// commandOfThePage returns the line of docs/deploys.md that runs a program.
func commandOfThePage(t testing.TB, program string) string {
	t.Helper()
	page, err := os.ReadFile("../../../docs/deploys.md")
	require.NoError(t, err)
	for line := range strings.Lines(string(page)) {
		if strings.HasPrefix(line, program+" ") {
			return line
		}
	}
	t.Fatalf("docs/deploys.md does not run %s", program)
	return ""
}
