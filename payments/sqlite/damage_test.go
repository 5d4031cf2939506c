package sqlite

import (
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/testkit"
	"github.com/moneymovement/moneymovement-go/payments"
)

// closed makes a store with payments, and returns its path after it was closed in order.
func closed(t *testing.T, rows int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "p.db")
	s, err := Open(t.Context(), path)
	require.NoError(t, err)
	work(t, s, &books{confirmed: map[moneymovement.Key]int{}}, 4, rows/4)
	require.NoError(t, s.Close())
	_, err = os.Stat(path + "-wal")
	require.ErrorIs(t, err, fs.ErrNotExist, "a store that was closed in order is one file")
	return path
}

// crashed makes a store with payments, and returns the path of what a process that was killed leaves.
func crashed(t *testing.T, rows int) (path string, confirmed map[moneymovement.Key]int) {
	t.Helper()
	folder := t.TempDir()
	d := newDisk(t, folder)
	s, err := Open(t.Context(), filepath.Join(folder, "p.db"), onDisk)
	require.NoError(t, err)
	b := &books{confirmed: map[moneymovement.Key]int{}}
	work(t, s, b, 4, rows/4)
	copied := t.TempDir()
	for name := range d.files {
		content, err := os.ReadFile(filepath.Join(folder, name))
		if err == nil {
			require.NoError(t, os.WriteFile(filepath.Join(copied, name), content, 0o600))
		}
	}
	require.NoError(t, s.Close())
	return filepath.Join(copied, "p.db"), b.confirmed
}

// refused checks that a file is refused, a second time as well, and that nothing in its folder is changed.
func refused(t *testing.T, path, problem string) {
	t.Helper()
	before := contents(t, filepath.Dir(path))
	for range 2 {
		_, err := Open(t.Context(), path)
		var damaged *Damaged
		require.ErrorAs(t, err, &damaged)
		assert.Contains(t, damaged.Error(), problem)
		assert.Equal(t, path, damaged.Path)
		assert.Equal(t, before, contents(t, filepath.Dir(path)))
	}
}

// contents returns what each file of a folder has.
func contents(t *testing.T, folder string) map[string]string {
	t.Helper()
	found := map[string]string{}
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	for _, entry := range entries {
		if entry.IsDir() {
			found[entry.Name()] = "a folder"
			continue
		}
		content, err := os.ReadFile(filepath.Join(folder, entry.Name()))
		require.NoError(t, err)
		found[entry.Name()] = fmt.Sprintf("%d bytes, %x", len(content), sha256.Sum256(content))
	}
	return found
}

// Files that are removed or replaced while the store is open take nothing any more: what is written to them ends with
// the process. Backup saves all that was stored before.
func TestFilesThatAreRemovedWhileTheStoreIsOpen(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows removes no file that is open")
	}
	removed := func(paths ...string) {
		for _, path := range paths {
			require.NoError(t, os.Remove(path))
		}
	}
	for name, remove := range map[string]func(path string){
		"the file":          func(path string) { removed(path) },
		"its log":           func(path string) { removed(path + "-wal") },
		"its shared memory": func(path string) { removed(path + "-shm") },
		"its lock":          func(path string) { removed(path + ".lock") },
		"all":               func(path string) { removed(path, path+"-wal", path+"-shm", path+".lock") },
		"its folder": func(path string) {
			require.NoError(t, os.Rename(filepath.Dir(path), filepath.Dir(path)+"-moved"))
		},
		"for another one": func(path string) {
			content, err := os.ReadFile(path)
			require.NoError(t, err)
			removed(path)
			require.NoError(t, os.WriteFile(path, content, 0o600))
		},
	} {
		for _, first := range []string{"a write", "a claim", "a backup"} {
			t.Run(name+", noticed by "+first, func(t *testing.T) {
				folder := filepath.Join(t.TempDir(), "store")
				require.NoError(t, os.Mkdir(folder, 0o700))
				s, err := Open(t.Context(), filepath.Join(folder, "p.db"))
				require.NoError(t, err)
				_, _, err = s.Insert(t.Context(), due("before", 0))
				require.NoError(t, err)
				claimed, _, err := s.Claim(t.Context(), payments.Claim{Key: "before", Owner: "o", For: time.Minute})
				require.NoError(t, err)
				remove(s.path)
				saved := filepath.Join(t.TempDir(), "saved.db")
				steps := map[string]func(){
					"a write": func() {
						_, _, err := s.Insert(t.Context(), due("after", 0))
						require.ErrorAs(t, err, new(*Removed))
						_, err = s.Save(t.Context(), claimed[0], false)
						require.ErrorAs(t, err, new(*Removed))
					},
					"a claim": func() {
						_, _, err := s.Claim(t.Context(), payments.Claim{Work: payments.WorkBegin, Limit: 1,
							Now: time.Now(), Owner: "o", For: time.Minute})
						require.ErrorAs(t, err, new(*Removed))
					},
					"a backup": func() { require.NoError(t, s.Backup(t.Context(), saved)) },
				}
				steps[first]()
				delete(steps, first)
				for _, step := range steps {
					step()
				}
				require.NoError(t, s.Close())
				s, err = Open(t.Context(), saved, MustExist())
				require.NoError(t, err)
				_, err = s.Load(t.Context(), "before")
				require.NoError(t, err)
				require.NoError(t, s.Close())
			})
		}
	}
}

func TestDamagedFiles(t *testing.T) {
	testkit.Long(t, "damages files")
	whole := closed(t, 40)
	for name, c := range map[string]struct {
		change  func([]byte) []byte
		problem string
	}{
		"empty":          {func([]byte) []byte { return nil }, "it has 0 bytes"},
		"short":          {func(b []byte) []byte { return b[:99] }, "less than a header"},
		"text":           {func([]byte) []byte { return []byte(fmt.Sprintf("%200s", "text")) }, "not a file of SQLite"},
		"no magic":       {func(b []byte) []byte { b[3] ^= 1; return b }, "not a file of SQLite"},
		"page size":      {func(b []byte) []byte { b[16] ^= 1; return b }, "a page has"},
		"no log":         {func(b []byte) []byte { b[18] = 1; return b }, "it has no log"},
		"another id":     {func(b []byte) []byte { b[70] ^= 1; return b }, "of another program"},
		"no version":     {func(b []byte) []byte { clear(b[60:64]); return b }, "no tables"},
		"half":           {func(b []byte) []byte { return b[:len(b)/2/4096*4096] }, "bytes instead of"},
		"a page less":    {func(b []byte) []byte { return b[:len(b)-4096] }, "bytes instead of"},
		"a byte less":    {func(b []byte) []byte { return b[:len(b)-1] }, "bytes instead of"},
		"a page more":    {func(b []byte) []byte { return append(b, make([]byte, 4096)...) }, "bytes instead of"},
		"schema":         {func(b []byte) []byte { clear(b[100:4096]); return b }, "damaged"},
		"schema's words": {func(b []byte) []byte { copy(b[find(b, "UNIQUE"):], "CHECK1"); return b }, "damaged"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "p.db")
			content, err := os.ReadFile(whole)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(path, c.change(content), 0o600))
			refused(t, path, c.problem)
		})
	}
}

func find(b []byte, text string) int {
	for i := range b {
		if len(b)-i >= len(text) && string(b[i:i+len(text)]) == text {
			return i
		}
	}
	return -1
}

func TestForeignDatabase(t *testing.T) {
	testkit.Long(t, "damages files")
	path := filepath.Join(t.TempDir(), "p.db")
	db, err := sql.Open("sqlite", path)
	require.NoError(t, err)
	_, err = db.Exec("PRAGMA journal_mode = WAL; CREATE TABLE payments (key TEXT)")
	require.NoError(t, err)
	require.NoError(t, db.Close())
	refused(t, path, "a database of another program")
}

func TestMissingFiles(t *testing.T) {
	testkit.Long(t, "damages files")
	path, confirmed := crashed(t, 40)
	kept, err := os.ReadFile(path + "-wal")
	require.NoError(t, err)
	require.NoError(t, os.Remove(path+"-wal"))
	refused(t, path, "p.db-wal, is missing")

	require.NoError(t, os.WriteFile(path+"-wal", kept, 0o600))
	file, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.Remove(path))
	refused(t, path, "its log is there")
	require.NoError(t, os.WriteFile(path, file, 0o600))
	assert.Empty(t, lost(t, path, confirmed))
}

// A copy that is put in the place of a file whose log was left would be mixed with that log.
func TestLogOfAnotherFile(t *testing.T) {
	testkit.Long(t, "damages files")
	path := filepath.Join(t.TempDir(), "p.db")
	s, err := Open(t.Context(), path)
	require.NoError(t, err)
	b := &books{confirmed: map[moneymovement.Key]int{}}
	work(t, s, b, 2, 5)
	before := b.copied()
	copied := filepath.Join(t.TempDir(), "copy.db")
	require.NoError(t, s.Backup(t.Context(), copied))
	for _, again := range []bool{false, true} {
		if again { // the log is of a later run
			require.NoError(t, s.Close())
			s, err = Open(t.Context(), path)
			require.NoError(t, err)
		}
		require.NoError(t, pay(t, s, b, moneymovement.Key(fmt.Sprint("z1-", again))))
		log, err := os.ReadFile(path + "-wal")
		require.NoError(t, err)
		require.NotEmpty(t, log)
		restored := filepath.Join(t.TempDir(), "p.db")
		content, err := os.ReadFile(copied)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(restored, content, 0o600))
		require.NoError(t, os.WriteFile(restored+"-wal", log, 0o600))
		refused(t, restored, "damaged")
		require.NoError(t, os.WriteFile(restored, content, 0o600))
		require.NoError(t, os.Remove(restored+"-wal"))
		require.NoError(t, os.RemoveAll(restored+"-shm"))
		assert.Empty(t, lost(t, restored, before), "without the log")
	}
	require.NoError(t, s.Close())
}

// A flipped bit in the log is found, except in its last transaction, which a loss of power could have left so. Nothing
// that was confirmed disappears without a word.
func TestFlippedBitsInTheLog(t *testing.T) {
	testkit.Long(t, "damages files")
	random := rand.New(rand.NewPCG(7, 7))
	path, confirmed := crashed(t, 40)
	file, err := os.ReadFile(path)
	require.NoError(t, err)
	log, err := os.ReadFile(path + "-wal")
	require.NoError(t, err)
	last := lastTransactions(log)
	require.Greater(t, last, len(log)/2)
	for range 40 {
		at := random.IntN(last)
		other := filepath.Join(t.TempDir(), "p.db")
		require.NoError(t, os.WriteFile(other, file, 0o600))
		flipped := append([]byte(nil), log...)
		flipped[at] ^= 1 << random.IntN(8)
		require.NoError(t, os.WriteFile(other+"-wal", flipped, 0o600))
		refused(t, other, "log")
	}
	assert.Empty(t, lost(t, path, confirmed))
}

// lastTransactions returns where the last two transactions of a log begin.
func lastTransactions(log []byte) (at int) {
	var ends []int
	for at := logHeader; at+frameHeader+4096 <= len(log); at += frameHeader + 4096 {
		if string(log[at+8:at+16]) == string(log[16:24]) && binary.BigEndian.Uint32(log[at+4:]) != 0 {
			ends = append(ends, at+frameHeader+4096)
		}
	}
	return ends[len(ends)-3]
}

// A flipped bit in a page is found when the row is read, or by a check: a changed row is never returned.
func TestFlippedBitsInPages(t *testing.T) {
	testkit.Long(t, "damages files")
	random := rand.New(rand.NewPCG(8, 8))
	whole, err := os.ReadFile(closed(t, 40))
	require.NoError(t, err)
	found, unused := 0, 0
	for range 60 {
		path := filepath.Join(t.TempDir(), "p.db")
		at := random.IntN(len(whole))
		flipped := append([]byte(nil), whole...)
		flipped[at] ^= 1 << random.IntN(8)
		require.NoError(t, os.WriteFile(path, flipped, 0o600))
		s, err := Open(t.Context(), path)
		if err != nil {
			var damaged *Damaged
			var newer *Newer // a bit of the version
			assert.True(t, errors.As(err, &damaged) || errors.As(err, &newer), "%v", err)
			found++
			continue
		}
		records, err := s.List(t.Context(), payments.List{Limit: 1000})
		if err == nil {
			for _, stored := range records {
				want := record(stored.Key, 3, moneymovement.PaymentCompleted)
				want.Position, want.Due = stored.Position, stored.Due // which have no checksum
				assert.Equal(t, want, stored)
			}
			_, err = s.Check(t.Context())
		}
		if err == nil {
			assert.Len(t, records, 40)
			unused++ // of free space, or of the order of work that has ended
		} else {
			var damaged *Damaged
			require.ErrorAs(t, err, &damaged)
			found++
		}
		_ = s.Close()
	}
	t.Logf("%d found, %d change nothing that is checked", found, unused)
	assert.Greater(t, found, 10)
}

// A flipped bit can change the type of a value.
func TestValuesOfAnotherType(t *testing.T) {
	testkit.Long(t, "damages files")
	whole, err := os.ReadFile(closed(t, 8))
	require.NoError(t, err)
	for _, column := range []string{"key", "account", "work", "due", "change", "data", "sum"} {
		t.Run(column, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "p.db")
			require.NoError(t, os.WriteFile(path, whole, 0o600))
			db, err := sql.Open("sqlite", path)
			require.NoError(t, err)
			const strict, loose = "sum INTEGER NOT NULL\n) STRICT", "sum INTEGER NOT NULL\n)" // how the table ends
			declare := "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, '%s', '%s') " +
				"WHERE name = 'payments'; PRAGMA writable_schema = RESET; "
			_, err = db.Exec(fmt.Sprintf(declare, strict, loose) + "UPDATE payments SET " + column +
				" = x'0e8c' WHERE id = 3; " + fmt.Sprintf(declare, loose, strict))
			require.NoError(t, err)
			require.NoError(t, db.Close())
			var damaged *Damaged
			s, err := Open(t.Context(), path)
			if err == nil {
				_, err = s.List(t.Context(), payments.List{Limit: 100})
				require.ErrorAs(t, err, &damaged)
				_, err = s.Check(t.Context())
				require.NoError(t, s.Close())
			}
			require.ErrorAs(t, err, &damaged)
		})
	}
}

func TestCheckComparesTheCounts(t *testing.T) {
	testkit.Long(t, "damages files")
	path := closed(t, 8)
	db, err := sql.Open("sqlite", path)
	require.NoError(t, err)
	_, err = db.Exec("UPDATE counts SET payments = payments + 1")
	require.NoError(t, err)
	require.NoError(t, db.Close())
	s, err := Open(t.Context(), path)
	require.NoError(t, err)
	defer s.Close()
	_, err = s.Check(t.Context())
	require.ErrorContains(t, err, "do not agree with the rows")
}

// A payment that needs a newer program is not damage. Check does not know what it counts, so it compares the tallies
// only if there is no such payment.
func TestCheckOfAPaymentThatNeedsANewerProgram(t *testing.T) {
	path := filepath.Join(t.TempDir(), "p.db")
	for _, newer := range []bool{false, true} {
		s := opened(t, path)
		_, err := s.Check(t.Context())
		require.NoError(t, err)
		counted := due(moneymovement.Key(fmt.Sprint("a", newer)), 0)
		if newer {
			counted.Needs = payments.RecordVersion + 1
		}
		counted.Count, counted.Spending = new(payments.Count), &payments.Spending{
			Asset: "USDC", Payee: "1", Amount: decimal.NewFromInt(5), At: time.Unix(1_800_000_000, 0),
		}
		_, _, err = s.Insert(t.Context(), counted)
		require.NoError(t, err)
		checked, err := s.Check(t.Context())
		require.NoError(t, err)
		assert.Equal(t, checked.Payments, checked.ByState[moneymovement.PaymentAccepted])
		require.NoError(t, s.Close())

		changeFile(t, path, "UPDATE tallies SET amount = amount + 1")
		s = opened(t, path)
		_, err = s.Check(t.Context())
		require.NoError(t, s.Close())
		if newer {
			require.NoError(t, err, "it may count in another way")
		} else {
			require.ErrorContains(t, err, "the tally of")
		}
		changeFile(t, path, "UPDATE tallies SET amount = amount - 1")
	}
}

// A file of this version with other columns or triggers is not opened: somebody changed it.
func TestTablesThatSomebodyChanged(t *testing.T) {
	testkit.Long(t, "damages files")
	for _, change := range []string{
		"ALTER TABLE payments ADD COLUMN more TEXT",
		"CREATE TRIGGER more AFTER UPDATE ON payments BEGIN UPDATE uses SET opened = 0; END",
		"DROP INDEX payments_due",
		"DROP TABLE counts",
	} {
		path := closed(t, 8)
		changeFile(t, path, change)
		_, err := Open(t.Context(), path)
		require.ErrorAs(t, err, new(*Damaged), change)
		require.ErrorContains(t, err, "its tables are not those", change)
	}
}

// A table that a later version has added beside those of this one is left alone, and is in a backup.
func TestTableOfALaterVersion(t *testing.T) {
	path := closed(t, 8)
	changeFile(t, path, "CREATE TABLE later (id INTEGER PRIMARY KEY, more TEXT)")
	changeFile(t, path, "CREATE INDEX later_more ON later (more)")
	changeFile(t, path, "INSERT INTO later VALUES (1, 'kept')")
	s := opened(t, path)
	checked, err := s.Check(t.Context())
	require.NoError(t, err)
	assert.Equal(t, 8, checked.Payments)
	copied := filepath.Join(t.TempDir(), "copy.db")
	require.NoError(t, s.Backup(t.Context(), copied))
	require.NoError(t, s.Close())
	for _, file := range []string{path, copied} {
		db, err := sql.Open("sqlite", file)
		require.NoError(t, err)
		var kept string
		require.NoError(t, db.QueryRow("SELECT more FROM later").Scan(&kept))
		require.NoError(t, db.Close())
		assert.Equal(t, "kept", kept)
	}
}

// changeFile runs a statement in a file that no store has open.
func changeFile(t *testing.T, path, statement string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	require.NoError(t, err)
	_, err = db.Exec(statement)
	require.NoError(t, err)
	require.NoError(t, db.Close())
}
