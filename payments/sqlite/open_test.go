package sqlite

import (
	"bufio"
	"context"
	"database/sql"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/internal/testkit"
	"github.com/moneymovement/moneymovement-go/payments"
	"github.com/moneymovement/moneymovement-go/payments/storetest"
)

func opened(t *testing.T, path string, options ...Option) *Store {
	t.Helper()
	s, err := Open(t.Context(), path, options...)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, s.Close()) })
	return s
}

func TestStore(t *testing.T) {
	fresh := func(t *testing.T) payments.Store { return opened(t, filepath.Join(t.TempDir(), "payments.db")) }
	if testing.Short() {
		storetest.Run(t, fresh, storetest.VirtualTime())
		return
	}
	storetest.Run(t, fresh, storetest.Seed(2)) // in real time, with the same statements
}

func claimKey(t *testing.T, s *Store, key moneymovement.Key) payments.Claimed {
	t.Helper()
	claimed, _, err := s.Claim(t.Context(), payments.Claim{Owner: "w", Key: key, Now: time.Now(), For: time.Hour})
	require.NoError(t, err)
	return claimed[0]
}

// Epochs, positions and turns go on where an earlier process ended, and leases end with it.
func TestRestart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "p.db")
	s := opened(t, path)
	for i := range 3 {
		for _, account := range []string{"a1", "b1"} {
			_, _, err := s.Insert(t.Context(), due(moneymovement.Key(fmt.Sprint(account, "-", i)), 0))
			require.NoError(t, err)
		}
	}
	_, _, err := s.Claim(t.Context(), payments.Claim{Owner: "w", Work: payments.WorkBegin, Limit: 2, Now: time.Now(),
		For: time.Hour})
	require.NoError(t, err)
	saved := claimKey(t, s, "a1-2")
	position, err := s.Save(t.Context(), saved, false)
	require.NoError(t, err)
	require.NoError(t, s.Close())

	s = opened(t, path)
	again := claimKey(t, s, "a1-2")
	assert.Greater(t, again.Lease.Epoch, saved.Lease.Epoch)
	assert.Equal(t, position, again.Position)
	_, err = s.Save(t.Context(), saved, true)
	var lost *payments.LeaseLost
	require.ErrorAs(t, err, &lost, "the lease of the process before")
	next, err := s.Save(t.Context(), again, true)
	require.NoError(t, err)
	changes, err := s.Changes(t.Context(), position, 5)
	require.NoError(t, err)
	require.Len(t, changes, 1)
	assert.Equal(t, next, changes[0].Position)

	late := due("c1-0", 0)
	_, _, err = s.Insert(t.Context(), late)
	require.NoError(t, err)
	claimed, _, err := s.Claim(t.Context(), payments.Claim{Owner: "w", Work: payments.WorkBegin, Limit: 3,
		Now: time.Now(),
		For: time.Hour})
	require.NoError(t, err)
	var keys []moneymovement.Key
	for _, one := range claimed {
		keys = append(keys, one.Key)
	}
	assert.ElementsMatch(t, []moneymovement.Key{"a1-0", "b1-0", "c1-0"}, keys, "a new account is in the first turn")
}

func TestNewFileIsPrivate(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs permission bits, which Windows does not have; make check on any other system runs it")
	}
	path := filepath.Join(t.TempDir(), "p.db")
	s := opened(t, path)
	_, _, err := s.Insert(t.Context(), due("a1", 0))
	require.NoError(t, err)
	entries, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	var names []string
	for _, entry := range entries {
		info, err := entry.Info()
		require.NoError(t, err)
		assert.Equal(t, fs.FileMode(0o600), info.Mode(), entry.Name())
		names = append(names, entry.Name())
	}
	assert.Equal(t, []string{"p.db", "p.db-shm", "p.db-wal", "p.db.lock"}, names)
	require.NoError(t, s.Close())
	require.NoError(t, os.Chmod(path, 0o620))
	_, err = Open(t.Context(), path)
	assert.ErrorContains(t, err, "chmod 600")
}

func TestPaths(t *testing.T) {
	folder := t.TempDir()
	for _, name := range []string{
		"plain", "with space", "a?b=c&mode=memory", "per%20cent%", "#hash", "é", "a'b\"c", ":memory:",
	} {
		path := filepath.Join(folder, name)
		s := opened(t, path)
		_, _, err := s.Insert(t.Context(), due("a1", 0))
		require.NoError(t, err)
		require.NoError(t, s.Close())
		_, err = os.Stat(path)
		require.NoError(t, err, name)
		_, err = opened(t, path, MustExist()).Load(t.Context(), "a1")
		require.NoError(t, err, name)
	}
	t.Chdir(folder)
	opened(t, "relative.db")
	_, err := os.Stat(filepath.Join(folder, "relative.db"))
	require.NoError(t, err)

	for name, path := range map[string]string{
		"a folder":             t.TempDir(),
		"a missing folder":     filepath.Join(folder, "missing", "p.db"),
		"below a file":         filepath.Join(folder, "plain", "p.db"),
		"a zero byte":          filepath.Join(folder, "a\x00b"),
		"nothing":              "",
		"a link that is ended": link(t, filepath.Join(folder, "nowhere")),
	} {
		_, err := Open(t.Context(), path)
		require.ErrorContains(t, err, "sqlite: ", name)
	}
	_, err = Open(t.Context(), filepath.Join(folder, "new"), MustExist())
	require.ErrorIs(t, err, fs.ErrNotExist)
	_, err = os.Stat(filepath.Join(folder, "new"))
	require.ErrorIs(t, err, fs.ErrNotExist)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = Open(ctx, filepath.Join(folder, "new"))
	require.ErrorIs(t, err, context.Canceled)
}

func link(t *testing.T, to string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(to, path))
	return path
}

// A file with two names would have two logs, and each would miss the payments of the other.
func TestHardLink(t *testing.T) {
	path := closed(t, 4)
	if err := os.Link(path, path+".second"); err != nil || runtime.GOOS == "windows" {
		t.Skipf("needs a Unix file system with hard links: %v; make check on Linux runs it", err)
	}
	_, err := Open(t.Context(), path)
	require.ErrorContains(t, err, "hard links")
}

// A store that was being made when the power was lost is made again.
func TestUnfinishedStoreIsMadeAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "p.db")
	for _, name := range []string{".new", ".new-wal", ".new-shm"} {
		require.NoError(t, os.WriteFile(path+name, []byte("half"), 0o600))
	}
	_, _, err := opened(t, path).Insert(t.Context(), due("a1", 0))
	require.NoError(t, err)
	left, err := filepath.Glob(path + ".new*")
	require.NoError(t, err)
	assert.Empty(t, left)
}

func TestBackup(t *testing.T) {
	path := filepath.Join(t.TempDir(), "p.db")
	s := opened(t, path)
	b := &books{confirmed: map[moneymovement.Key]int{}}
	work(t, s, b, 4, 5)
	before := b.copied()
	copied := filepath.Join(t.TempDir(), "copy.db")
	require.NoError(t, s.Backup(t.Context(), copied))
	require.NoError(t, pay(t, s, b, "z1-after"))
	require.ErrorIs(t, s.Backup(t.Context(), copied), fs.ErrExist)

	info, err := os.Stat(copied)
	require.NoError(t, err)
	if runtime.GOOS != "windows" {
		assert.Equal(t, fs.FileMode(0o600), info.Mode())
	}
	assert.Empty(t, lost(t, copied, before))
	_, err = opened(t, copied).Load(t.Context(), "z1-after")
	var missing *payments.NotFound
	require.ErrorAs(t, err, &missing)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, s.Backup(ctx, copied+"2"), context.Canceled)
	require.Error(t, s.Backup(t.Context(), filepath.Join(copied, "below")))
	left, err := filepath.Glob(copied + "*.new*")
	require.NoError(t, err)
	assert.Empty(t, left)
}

// A copy knows when it was made. In the place of the store, it searches for each payment before it is paid, until a
// person says that all is submitted again. Programs of before do not open it until then.
func TestRestoredBackup(t *testing.T) {
	path := filepath.Join(t.TempDir(), "p.db")
	s := opened(t, path)
	_, _, err := s.Insert(t.Context(), due("a1", 0))
	require.NoError(t, err)
	began := time.Now().Truncate(time.Microsecond)
	copied := filepath.Join(t.TempDir(), "copy.db")
	require.NoError(t, s.Backup(t.Context(), copied))
	version := func(path string) (version int) {
		db, err := sql.Open("sqlite", path)
		require.NoError(t, err)
		defer db.Close()
		require.NoError(t, db.QueryRow("PRAGMA user_version").Scan(&version))
		return version
	}
	insert := func(s *Store, key moneymovement.Key) payments.Record {
		record, inserted, err := s.Insert(t.Context(), due(key, 0))
		require.NoError(t, err)
		require.True(t, inserted)
		return record
	}
	assert.Nil(t, insert(s, "b1").Reason)
	require.NoError(t, s.Close())
	assert.Equal(t, 1, version(path))
	assert.Greater(t, version(copied), len(migrations), "an older program takes it for a newer file")

	from := time.Time{}
	for _, key := range []moneymovement.Key{"c1", "c2"} { // the second time, it is not a copy any more
		s = opened(t, copied)
		summary, err := s.Summary(t.Context())
		require.NoError(t, err)
		from = summary.RestoredFrom
		assert.False(t, from.Before(began) || from.After(time.Now()), from)
		assert.Equal(t, from, insert(s, key).FirstUsed)
		stored, err := s.Load(t.Context(), "a1")
		require.NoError(t, err)
		assert.Equal(t, payments.ReasonInDoubt, stored.Reason.Code)
		if key == "c1" {
			claimed, _, err := s.Claim(t.Context(), payments.Claim{Owner: "w", Key: "a1", For: time.Hour})
			require.NoError(t, err)
			claimed[0].State, claimed[0].MayHaveLeft = moneymovement.PaymentCompleted, true
			_, err = s.Save(t.Context(), claimed[0], true)
			require.NoError(t, err)
		} else {
			assert.Equal(t, moneymovement.PaymentCompleted, stored.State, "it is marked once")
		}
		_, err = s.Check(t.Context())
		require.NoError(t, err)
		require.NoError(t, s.Close())
	}

	s = opened(t, copied)
	second := filepath.Join(t.TempDir(), "copy.db")
	require.NoError(t, s.Backup(t.Context(), second))
	require.NoError(t, s.MarkRestored(t.Context(), time.Time{}))
	assert.Nil(t, insert(s, "d1").Reason)
	require.NoError(t, s.Close())
	assert.Equal(t, 1, version(copied), "an older program opens it again")
	assert.Nil(t, insert(opened(t, copied), "d2").Reason)
	summary, err := opened(t, second).Summary(t.Context())
	require.NoError(t, err)
	assert.Equal(t, from, summary.RestoredFrom, "the copy of a copy lacks what the first one lacks")
}

// The mark of a restored file is part of its transactions: a log that is left behind is not taken for a migration.
func TestLogBesideARestoredCopy(t *testing.T) {
	path := closed(t, 8)
	s := opened(t, path)
	copied := filepath.Join(t.TempDir(), "copy.db")
	require.NoError(t, s.Backup(t.Context(), copied))
	require.NoError(t, s.MarkRestored(t.Context(), time.Now()))
	log, err := os.ReadFile(path + "-wal")
	require.NoError(t, err)
	require.NotEmpty(t, log)
	require.NoError(t, os.WriteFile(copied+"-wal", log, 0o600))
	_, err = Open(t.Context(), copied)
	require.ErrorContains(t, err, "belongs to another file")
}

// Version 1 as it was released. A later version must read it.
func TestFileOfVersion1(t *testing.T) {
	content, err := os.ReadFile("testdata/version1.db")
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "p.db")
	require.NoError(t, os.WriteFile(path, content, 0o600))
	s := opened(t, path)
	checked, err := s.Check(t.Context())
	require.NoError(t, err)
	assert.Equal(t, Checked{
		Payments: 6, ByState: map[moneymovement.PaymentState]int{moneymovement.PaymentAccepted: 4,
			moneymovement.PaymentCompleted: 2},
	}, checked)
	for _, key := range []moneymovement.Key{"w0-0", "w1-0"} {
		stored, err := s.Load(t.Context(), key)
		require.NoError(t, err)
		require.NoError(t, stored.Err())
		assert.Equal(t, "3", stored.Metadata["n"])
		assert.Equal(t, moneymovement.PaymentCompleted, stored.State)
	}
	claimed, _, err := s.Claim(t.Context(), payments.Claim{Owner: "w", Work: payments.WorkBegin, Limit: 9,
		Now: time.Now(),
		For: time.Hour})
	require.NoError(t, err)
	assert.Len(t, claimed, 4)
}

// later is a version that this package does not have yet.
func later(statements ...string) Option {
	return func(s *settings) {
		s.migrations = append(migrations[:len(migrations):len(migrations)], statements)
		s.least = len(s.migrations)
	}
}

func TestMigration(t *testing.T) {
	path := closed(t, 8)
	before, err := os.ReadFile(path)
	require.NoError(t, err)
	_, err = Open(t.Context(), path, later("ALTER TABLE payments ADD COLUMN more TEXT", "no SQL"))
	require.ErrorContains(t, err, "migration from version 1")
	s := opened(t, path)
	_, err = s.Check(t.Context())
	require.NoError(t, err, "a migration that fails changes nothing")
	require.NoError(t, s.Close())
	require.NoError(t, os.WriteFile(path, before, 0o600))

	second := later("ALTER TABLE payments ADD COLUMN more TEXT", "CREATE INDEX payments_more ON payments (more)")
	for range 2 {
		s = opened(t, path, second)
		checked, err := s.Check(t.Context())
		require.NoError(t, err)
		assert.Equal(t, 8, checked.Payments)
		require.NoError(t, s.Close())
	}
	_, err = Open(t.Context(), path)
	var newer *Newer
	require.ErrorAs(t, err, &newer)
	assert.Equal(t, &Newer{Path: path, Version: 3, Known: 2}, newer)
	opened(t, path, second)
}

// A caller that gives up before its turn changes nothing. One that gives up during the transaction does not know.
func TestCanceledCaller(t *testing.T) {
	folder := t.TempDir()
	d := newDisk(t, folder)
	s := opened(t, filepath.Join(folder, "p.db"), onDisk)
	syncing, goOn := make(chan struct{}), make(chan struct{})
	d.mu.Lock()
	d.fail = func(operation, _ string) int32 {
		if operation == "sync" {
			syncing <- struct{}{}
			<-goOn
		}
		return 0
	}
	d.mu.Unlock()
	results := make(chan error, 2)
	ctx, cancel := context.WithCancel(t.Context())
	insert := func(key moneymovement.Key) {
		_, _, err := s.Insert(ctx, due(key, 0))
		results <- err
	}
	go insert("a1-during")
	<-syncing
	go insert("a1-before")
	for len(s.queue) == 0 {
		runtime.Gosched()
	}
	cancel()
	for range 2 {
		require.ErrorIs(t, <-results, context.Canceled)
	}
	goOn <- struct{}{}
	go func() {
		for range syncing {
			goOn <- struct{}{}
		}
	}()
	_, _, err := s.Insert(t.Context(), due("a1-after", 0)) // both were looked at by then
	require.NoError(t, err)
	_, err = s.Load(t.Context(), "a1-during")
	require.NoError(t, err)
	_, err = s.Load(t.Context(), "a1-before")
	var missing *payments.NotFound
	require.ErrorAs(t, err, &missing)
	require.NoError(t, s.Close())
	close(syncing)
}

// Accounts that have nothing waiting are forgotten, so that memory does not grow with their number.
func TestTurnsOfIdleAccountsAreDropped(t *testing.T) {
	w := &writer{store: &Store{}, turns: map[string]int64{}, maxTurns: minTurns}
	for i := range 100_000 {
		w.store.turn.Store(w.turn("the same") + 1)
		w.turn(dapi.ClientID(fmt.Sprint("another-", i)))
	}
	assert.LessOrEqual(t, len(w.turns), 2*minTurns)
}

// childOf names the store with which a process of this test is to work, instead of running tests.
const childOf = "MONEYMOVEMENT_SQLITE_CHILD_OF"

func TestMain(m *testing.M) {
	if path := os.Getenv(childOf); path != "" {
		child(path)
		return
	}
	m.Run()
}

// child opens a store, and holds it until it is killed.
func child(path string) {
	if _, err := Open(context.Background(), path); err != nil {
		fmt.Println("error", err)
		return
	}
	fmt.Println("open")
	<-time.After(time.Hour)
}

// start starts a process that holds a store.
func start(t *testing.T, path string) *exec.Cmd {
	t.Helper()
	program, err := os.Executable()
	require.NoError(t, err)
	process := exec.Command(program)
	process.Env = append(os.Environ(), childOf+"="+path)
	pipe, err := process.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, process.Start())
	t.Cleanup(func() { _ = process.Process.Kill() })
	output := bufio.NewScanner(pipe)
	require.True(t, output.Scan(), "the process says that it has opened the store")
	require.Equal(t, "open", output.Text())
	return process
}

// A second process is refused, and says who has the store. When the first one is killed, the next can begin at once.
func TestSecondProcess(t *testing.T) {
	testkit.Long(t, "starts processes")
	path := filepath.Join(t.TempDir(), "p.db")
	process := start(t, path)
	for range 3 {
		_, err := Open(t.Context(), path)
		var inUse *InUse
		require.ErrorAs(t, err, &inUse)
		assert.Equal(t, &InUse{Path: path, Process: process.Process.Pid}, inUse)
	}
	require.NoError(t, process.Process.Kill())
	_ = process.Wait()
	s, err := Open(t.Context(), path)
	require.NoError(t, err)
	defer s.Close()

	_, err = Open(t.Context(), path) // in the same process, too
	var inUse *InUse
	require.ErrorAs(t, err, &inUse)
	assert.Equal(t, os.Getpid(), inUse.Process)
	link := filepath.Join(t.TempDir(), "link.db")
	require.NoError(t, os.Symlink(path, link))
	_, err = Open(t.Context(), link)
	require.ErrorAs(t, err, &inUse, "by another name")
	assert.Equal(t, path, inUse.Path)
}

// Nothing of a store outlives Close: no goroutine, and no open file.
func TestCloseReleasesFilesAndGoroutines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "p.db")
	synctest.Test(t, func(t *testing.T) { // which fails while a goroutine is left
		for range 3 {
			s, err := Open(t.Context(), path)
			require.NoError(t, err)
			work(t, s, &books{confirmed: map[moneymovement.Key]int{}}, 2, 0)
			_, err = s.Check(t.Context())
			require.NoError(t, err)
			require.NoError(t, s.Close())
			require.NoError(t, s.Close(), "a second time")
		}
	})
	before := openFiles(t)
	for range 20 {
		s, err := Open(t.Context(), path)
		require.NoError(t, err)
		_, err = s.Summary(t.Context())
		require.NoError(t, err)
		require.NoError(t, s.Close())
		_, err = Open(t.Context(), t.TempDir())
		require.Error(t, err)
	}
	assert.InDelta(t, before, openFiles(t), 5)
}

func openFiles(t *testing.T) int {
	t.Helper()
	files, err := os.ReadDir("/dev/fd")
	if err != nil {
		t.Skip("needs /dev/fd, which lists the open files of a process; make check on Linux runs it")
	}
	return len(files)
}

func TestClosedStore(t *testing.T) {
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "p.db"))
	require.NoError(t, err)
	_, _, err = s.Insert(t.Context(), due("w0", 0))
	require.NoError(t, err)
	require.NoError(t, s.Close())
	var errs []error
	_, _, err = s.Insert(t.Context(), due("w1", 0))
	errs = append(errs, err)
	_, err = s.Load(t.Context(), "w0")
	errs = append(errs, err)
	_, err = s.List(t.Context(), payments.List{Limit: 1})
	errs = append(errs, err)
	_, err = s.Changes(t.Context(), "", 1)
	errs = append(errs, err)
	_, _, err = s.Claim(t.Context(), payments.Claim{Key: "w0"})
	errs = append(errs, err)
	_, err = s.Extend(t.Context(), nil, time.Second)
	errs = append(errs, err)
	_, err = s.Save(t.Context(), payments.Claimed{Record: due("w0", 1)}, true)
	errs = append(errs, err, s.Postpone(t.Context(), payments.Claimed{Record: due("w0", 1)}))
	_, err = s.Summary(t.Context())
	errs = append(errs, err)
	_, err = s.Check(t.Context())
	errs = append(errs, err, s.Backup(t.Context(), filepath.Join(t.TempDir(), "copy.db")))
	for i, err := range errs {
		var closed *Closed
		assert.ErrorAs(t, err, &closed, "call %d", i)
	}
}

// Writes that wait when a store is closed are made.
func TestCloseWaitsForWrites(t *testing.T) {
	path := filepath.Join(t.TempDir(), "p.db")
	s, err := Open(t.Context(), path)
	require.NoError(t, err)
	b := &books{confirmed: map[moneymovement.Key]int{}}
	began, ended := make(chan struct{}, 64), make(chan struct{})
	for worker := range 64 {
		go func() {
			defer func() { ended <- struct{}{} }()
			for i := 0; ; i++ {
				key := moneymovement.Key(fmt.Sprintf("w%d-%d", worker, i))
				if i == 1 {
					began <- struct{}{}
				}
				if _, _, err := s.Insert(context.Background(), due(key, 0)); err != nil {
					var closed *Closed
					assert.ErrorAs(t, err, &closed)
					return
				}
				b.confirm(key, 0)
			}
		}()
	}
	for range 64 {
		<-began
	}
	require.NoError(t, s.Close())
	for range 64 {
		<-ended
	}
	assert.Empty(t, lost(t, path, b.confirmed))
}

// Who only wanted to look at a file finds the folder as it was. Only a store that was open has a lock.
func TestFailedOpenLeavesNoLock(t *testing.T) {
	store := closed(t, 4)
	require.NoError(t, os.Remove(store+".lock"))
	whole, err := os.ReadFile(store)
	require.NoError(t, err)
	for name, c := range map[string]struct {
		make   func(path string) error
		option Option
	}{
		"missing":   {func(string) error { return nil }, MustExist()},
		"a folder":  {func(path string) error { return os.Mkdir(path, 0o700) }, MustExist()},
		"empty":     {func(path string) error { return os.WriteFile(path, nil, 0o600) }, MustExist()},
		"truncated": {func(path string) error { return os.WriteFile(path, whole[:3000], 0o600) }, MustExist()},
		"not of this schema": {func(path string) error { return os.WriteFile(path, whole, 0o600) },
			later("no SQL")},
		"of a later version": {func(path string) error {
			if err := os.WriteFile(path, whole, 0o600); err != nil {
				return err
			}
			s, err := Open(t.Context(), path, later("CREATE TABLE more (id INTEGER)"))
			require.NoError(t, err)
			require.NoError(t, s.Close())
			return os.Remove(path + ".lock")
		}, MustExist()},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "p.db")
			require.NoError(t, c.make(path))
			before := contents(t, filepath.Dir(path))
			_, err := Open(t.Context(), path, c.option)
			require.Error(t, err)
			assert.Equal(t, before, contents(t, filepath.Dir(path)))

			require.NoError(t, os.WriteFile(path+".lock", []byte("1"), 0o600)) // of an earlier process
			_, err = Open(t.Context(), path, c.option)
			require.Error(t, err)
			assert.FileExists(t, path+".lock")
		})
	}
}

// Two processes never have the lock at once, also if others remove its file all the time.
func TestRemovedLockFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "p.db")
	var holders atomic.Int32
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			for taken := 0; taken < 20; {
				l, err := lockFor(path)
				if err != nil {
					if !assert.ErrorAs(t, err, new(*InUse)) {
						return
					}
					continue
				}
				taken++
				assert.EqualValues(t, 1, holders.Add(1))
				l.made = taken%2 == 0 // as if this one had made it
				holders.Add(-1)
				assert.NoError(t, l.release())
			}
		})
	}
	wait.Wait()
}
