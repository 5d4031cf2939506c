package sqlite

import (
	"errors"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	lib "modernc.org/sqlite/lib"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/testkit"
	"github.com/moneymovement/moneymovement-go/payments"
)

// failing opens a store on a disk that fails as the function says.
func failing(t *testing.T, fail func(operation, name string) int32, options ...Option) (*Store, *disk) {
	t.Helper()
	folder := t.TempDir()
	d := newDisk(t, folder)
	s, err := Open(t.Context(), filepath.Join(folder, "p.db"), append(options, onDisk)...)
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.Close() })
	d.mu.Lock()
	d.fail = fail
	d.mu.Unlock()
	return s, d
}

// A disk without room is an error, and nothing that was confirmed is lost. The store goes on when there is room again.
func TestDiskIsFull(t *testing.T) {
	testkit.Long(t, "breaks a disk")
	var full atomic.Bool
	s, d := failing(t, func(operation, _ string) int32 {
		if full.Load() && operation == "write" {
			return lib.SQLITE_FULL
		}
		return 0
	})
	b := &books{confirmed: map[moneymovement.Key]int{}}
	require.NoError(t, pay(t, s, b, "w0-before"))
	_, _, err := s.Insert(t.Context(), due("w0-held", 0))
	require.NoError(t, err)
	claimed, _, err := s.Claim(t.Context(), payments.Claim{Owner: "w", Key: "w0-held", Now: time.Now(), For: time.Hour})
	require.NoError(t, err)
	claimed[0].Record = record("w0-held", 1, moneymovement.PaymentPaying)

	full.Store(true)
	for range 3 {
		var none *Full
		_, _, err = s.Insert(t.Context(), due("w0-new", 0))
		require.ErrorAs(t, err, &none)
		require.ErrorContains(t, err, filepath.Base(s.path))
		_, err = s.Save(t.Context(), claimed[0], true)
		require.ErrorAs(t, err, &none)
	}
	_, err = s.Load(t.Context(), "w0-new")
	var missing *payments.NotFound
	require.ErrorAs(t, err, &missing)
	stored, err := s.Load(t.Context(), "w0-held")
	require.NoError(t, err)
	assert.Equal(t, moneymovement.PaymentAccepted, stored.State)
	_, _, err = s.Claim(t.Context(), payments.Claim{Owner: "x", Key: "w0-held", Now: time.Now(), For: time.Hour})
	var busy *payments.CallInProgress
	require.ErrorAs(t, err, &busy, "the lease is kept, so that its holder can save when there is room")

	full.Store(false)
	_, err = s.Save(t.Context(), claimed[0], true)
	require.NoError(t, err)
	require.NoError(t, pay(t, s, b, "w0-new"))
	_, err = s.Check(t.Context())
	require.NoError(t, err)
	d.mu.Lock()
	d.fail = nil
	d.mu.Unlock()
	require.NoError(t, s.Close())
	assert.Empty(t, lost(t, s.path, b.confirmed))
}

// After a sync of the log that failed, nobody knows what the disk has. The store confirms nothing more until it is
// opened anew.
func TestSyncOfTheLogFails(t *testing.T) {
	testkit.Long(t, "breaks a disk")
	var broken atomic.Bool
	var s *Store
	var d *disk
	s, d = failing(t, func(operation, name string) int32 {
		return d.dropped(broken.Load(), operation, name, "p.db-wal")
	})
	b := &books{confirmed: map[moneymovement.Key]int{}}
	require.NoError(t, pay(t, s, b, "w0-before"))
	broken.Store(true)
	var failed *Failed
	require.ErrorAs(t, pay(t, s, b, "w0-lost"), &failed)
	broken.Store(false)
	require.ErrorAs(t, pay(t, s, b, "w0-after"), &failed, "the disk works again, and what it has is not known")
	_, err := s.Load(t.Context(), "w0-before")
	require.NoError(t, err)
	afterwards(t, s, d, b)
}

// A sync of the file that fails leaves what it did not write in the log.
func TestSyncOfTheFileFails(t *testing.T) {
	testkit.Long(t, "breaks a disk")
	var broken atomic.Bool
	var s *Store
	var d *disk
	fail := func(operation, name string) int32 { return d.dropped(broken.Load(), operation, name, "p.db") }
	s, d = failing(t, fail, movesLogAfter(50))
	b := &books{confirmed: map[moneymovement.Key]int{}}
	broken.Store(true)
	work(t, s, b, 2, 15) // long enough for the log to be moved into the file
	assert.Positive(t, d.failures)
	afterwards(t, s, d, b)
}

// dropped fails the sync of a file as Linux does: a later sync does not repeat the failed write.
func (d *disk) dropped(broken bool, operation, name, file string) int32 {
	if !broken || operation != "sync" || name != file {
		return 0
	}
	d.files[name].pending = nil
	d.failures++
	return lib.SQLITE_IOERR_FSYNC
}

// afterwards looks for what was confirmed, after a loss of power and with the same disk.
func afterwards(t *testing.T, s *Store, d *disk, b *books) {
	t.Helper()
	d.mu.Lock()
	d.fail = nil
	files := d.crash(rand.New(rand.NewPCG(1, 1)))
	d.mu.Unlock()
	_ = s.Close()
	assert.Empty(t, lost(t, filepath.Join(folderWith(t, files), "p.db"), b.confirmed), "after a loss of power")
	assert.Empty(t, lost(t, s.path, b.confirmed), "with the same disk")
}

// Each call of a transaction has a result, also one that was refused before the transaction failed.
func TestRefusalInATransactionThatFails(t *testing.T) {
	testkit.Long(t, "breaks a disk")
	syncing, goOn := make(chan struct{}), make(chan struct{})
	var full, waits atomic.Bool
	s, d := failing(t, func(operation, _ string) int32 {
		if waits.Load() && operation == "sync" {
			syncing <- struct{}{}
			<-goOn
		}
		if full.Load() && operation == "write" {
			return lib.SQLITE_FULL
		}
		return 0
	})
	results := make(chan error, 3)
	_, _, err := s.Insert(t.Context(), due("a1-zero", 0)) // with which the log begins
	require.NoError(t, err)
	waits.Store(true)
	go func() {
		_, _, err := s.Insert(t.Context(), due("a1-first", 0))
		results <- err
	}()
	<-syncing
	go func() {
		lease := payments.Lease{Owner: "nobody", Epoch: 1}
		_, err := s.Save(t.Context(), payments.Claimed{Record: due("a1-first", 1), Lease: lease}, true)
		results <- err
	}()
	for len(s.queue) == 0 {
		runtime.Gosched()
	}
	go func() {
		_, _, err := s.Insert(t.Context(), due("a1-second", 0))
		results <- err
	}()
	for len(s.queue) == 1 {
		runtime.Gosched()
	}
	full.Store(true)
	waits.Store(false)
	goOn <- struct{}{}
	require.NoError(t, <-results)
	for range 2 {
		var none *Full
		require.ErrorAs(t, <-results, &none)
	}
	d.mu.Lock()
	d.fail = nil
	d.mu.Unlock()
}

// Writes that fail lose nothing that was confirmed, whichever they are.
func TestWritesFail(t *testing.T) {
	testkit.Long(t, "breaks a disk")
	for _, code := range []int32{lib.SQLITE_IOERR_WRITE, lib.SQLITE_FULL} {
		for skipped := range int32(12) {
			var on atomic.Bool
			var count atomic.Int32
			s, d := failing(t, func(operation, _ string) int32 {
				if on.Load() && operation == "write" && count.Add(1) == skipped+1 {
					return code
				}
				return 0
			})
			b := &books{confirmed: map[moneymovement.Key]int{}}
			require.NoError(t, pay(t, s, b, "w0-before"))
			on.Store(true)
			err := pay(t, s, b, "w0-during")
			var full *Full
			var failed *Failed
			if code == lib.SQLITE_FULL {
				require.ErrorAs(t, err, &full, "write %d", skipped)
				require.NoError(t, pay(t, s, b, "w0-after"))
			} else {
				require.ErrorAs(t, err, &failed, "write %d", skipped)
			}
			d.mu.Lock()
			d.fail = nil
			d.mu.Unlock()
			require.NoError(t, s.Close())
			assert.Empty(t, lost(t, s.path, b.confirmed))
		}
	}
}

// A start that fails at any operation of the disk leaves what the next one opens.
func TestStartFails(t *testing.T) {
	testkit.Long(t, "breaks a disk")
	failures := 0
	for skipped := range 16 {
		folder := t.TempDir()
		d := newDisk(t, folder)
		path := filepath.Join(folder, "p.db")
		s, err := Open(t.Context(), path, onDisk)
		require.NoError(t, err)
		b := &books{confirmed: map[moneymovement.Key]int{}}
		require.NoError(t, pay(t, s, b, "w0-before"))
		count := 0
		d.mu.Lock()
		d.fail = func(string, string) int32 {
			if count++; count > skipped {
				return lib.SQLITE_IOERR_FSYNC
			}
			return 0
		}
		d.mu.Unlock()
		if skipped%2 == 0 { // else it is closed in order before
			_ = s.Close()
		} else {
			d.mu.Lock()
			count = -1000
			d.mu.Unlock()
			require.NoError(t, s.Close())
			d.mu.Lock()
			count = 0
			d.mu.Unlock()
		}
		s, err = Open(t.Context(), path, onDisk)
		if err == nil {
			require.NoError(t, err)
			_ = s.Close()
		} else {
			var failed *Failed
			require.ErrorAs(t, err, &failed)
			failures++
		}
		d.mu.Lock()
		d.fail = nil
		d.mu.Unlock()
		require.Empty(t, lost(t, path, b.confirmed), "after %d operations", skipped)
	}
	assert.Greater(t, failures, 5)
}

func TestErrorsSayHowToGoOn(t *testing.T) {
	reason := errors.New("reason")
	for _, err := range []error{
		&InUse{Path: "p.db", Process: 12}, &InUse{Path: "p.db"}, &Damaged{Path: "p.db", Problems: []string{"a"}},
		&Newer{Path: "p.db", Version: 3, Known: 2}, &Full{Path: "p.db", Err: reason},
		&Failed{Path: "p.db", Err: reason}, &Closed{Path: "p.db"},
	} {
		assert.Contains(t, err.Error(), "sqlite: ")
		assert.Contains(t, err.Error(), "p.db")
		assert.NotContains(t, err.Error(), "\n")
	}
	assert.Contains(t, (&InUse{Path: "p.db", Process: 12}).Error(), "process 12")
	damaged := (&Damaged{Path: "p.db", Problems: []string{"a", "b", "c", "d"}}).Error()
	for _, step := range []string{"a; b; c; and 1 more", "Backup", "Check", "Reconcile", "same keys"} {
		assert.Contains(t, damaged, step)
	}
	place := -1 // a payment that is reconciled before it is submitted again looks like one that nobody knows
	for _, step := range []string{"submit your payments", "Reconcile", "EndRestored"} {
		at := strings.Index(damaged, step)
		assert.Greater(t, at, place, step)
		place = at
	}
	assert.Contains(t, (&Removed{Path: "p.db", File: "p.db-wal"}).Error(), "EndRestored")
	for _, err := range []error{
		&Damaged{Problems: []string{""}, Err: reason}, &Full{Err: reason}, &Failed{Err: reason},
	} {
		assert.ErrorIs(t, err, reason)
	}
}
