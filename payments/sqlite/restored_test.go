package sqlite

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/payments"
)

// within is a write that calls a function in the open transaction, and fails if that does.
type within func(w *writer) error

func (f within) apply(_ context.Context, w *writer) (refused, err error) { return nil, f(w) }
func (within) end(bool)                                                  {}

// together makes changes in one transaction, and returns the error of each.
func together(t *testing.T, s *Store, changes ...write) (results []error) {
	t.Helper()
	requests := make([]*request, len(changes))
	full := func(*writer) error { // all wait while this one runs, and so they share the next transaction
		for i, change := range changes {
			requests[i] = &request{write: change, result: make(chan error, 1)}
			s.queue <- requests[i]
		}
		return nil
	}
	require.NoError(t, s.write(t.Context(), within(full)))
	for _, r := range requests {
		results = append(results, <-r.result)
	}
	return results
}

// A row that is marked cannot be leased before the commit: whoever had it then would know nothing of the mark, and its
// next save would overwrite it.
func TestClaimBeforeTheCommitOfAMark(t *testing.T) {
	s := opened(t, filepath.Join(t.TempDir(), "p.db"))
	for _, key := range []moneymovement.Key{"a1", "a2", "a3"} {
		_, _, err := s.Insert(t.Context(), due(key, 0))
		require.NoError(t, err)
	}
	before := claimKey(t, s, "a2")
	reading, ok := s.leases.acquire("a3", "w", time.Hour) // by a claim that has not read the row yet
	require.True(t, ok)
	var read payments.Claimed
	results := together(t, s, &restoration{since: time.Now()}, within(func(*writer) error {
		claimed, _, err := s.Claim(t.Context(), payments.Claim{
			Owner: "w", Work: payments.WorkBegin, Limit: 5, Now: time.Now(), For: time.Hour,
		})
		require.NoError(t, err)
		assert.Empty(t, claimed)
		for _, key := range []moneymovement.Key{"a1", "a2"} {
			_, _, err = s.Claim(t.Context(), payments.Claim{Owner: "w", Key: key, Now: time.Now(), For: time.Hour})
			var busy *payments.CallInProgress
			require.ErrorAs(t, err, &busy)
		}
		row, err := s.loadLeased(t.Context(), candidate{key: "a3", lease: reading})
		require.NoError(t, err)
		read = payments.Claimed{Record: row.record(), Lease: reading}
		return nil
	}))
	assert.Equal(t, []error{nil, nil}, results)
	assert.Nil(t, read.Reason, "it was read before the commit")
	for _, claimed := range []payments.Claimed{before, read} {
		_, err := s.Save(t.Context(), claimed, false)
		var lost *payments.LeaseLost
		require.ErrorAs(t, err, &lost)
	}
	for _, key := range []moneymovement.Key{"a1", "a2", "a3"} {
		assert.NotNil(t, claimKey(t, s, key).Reason, key)
	}
}

// After a roll back, the leases are those of before, and nothing is marked.
func TestRollBackOfAMark(t *testing.T) {
	s := opened(t, filepath.Join(t.TempDir(), "p.db"))
	for _, key := range []moneymovement.Key{"a1", "a2", "a3", "a4"} {
		_, _, err := s.Insert(t.Context(), due(key, 0))
		require.NoError(t, err)
	}
	held, saved := claimKey(t, s, "a1"), claimKey(t, s, "a4")
	reading, ok := s.leases.acquire("a2", "w", time.Hour)
	require.True(t, ok)
	var read payments.Claimed
	saves := &saving{store: s, row: mustRow(t, &saved.Record), record: &saved.Record, lease: saved.Lease, release: true}
	marks, again := &restoration{since: time.Now()}, &restoration{since: time.Now().Add(-time.Hour)}
	results := together(t, s, saves, marks, again, within(func(*writer) error {
		row, err := s.loadLeased(t.Context(), candidate{key: "a2", lease: reading})
		require.NoError(t, err)
		read = payments.Claimed{Record: row.record(), Lease: reading}
		return errors.New("no")
	}))
	for _, err := range results {
		require.ErrorContains(t, err, "no")
	}
	for _, claimed := range []payments.Claimed{held, read, saved} {
		lost, err := s.Extend(t.Context(), map[moneymovement.Key]payments.Lease{claimed.Key: claimed.Lease}, time.Hour)
		require.NoError(t, err)
		assert.Empty(t, lost)
		_, err = s.Save(t.Context(), claimed, true)
		require.NoError(t, err)
	}
	for _, key := range []moneymovement.Key{"a1", "a2", "a3", "a4"} {
		assert.Nil(t, claimKey(t, s, key).Reason, key)
	}
	_, err := s.Check(t.Context())
	require.NoError(t, err)
}

func mustRow(t *testing.T, record *payments.Record) row {
	t.Helper()
	row, err := rowOf(record)
	require.NoError(t, err)
	return row
}

// Of two changes that are rolled back together, the first one knows how the store was before both.
func TestRollBackOfTheEndAndAMark(t *testing.T) {
	s := opened(t, filepath.Join(t.TempDir(), "p.db"))
	since := time.Now().Truncate(time.Microsecond)
	require.NoError(t, s.MarkRestored(t.Context(), since))
	fails := within(func(*writer) error { return errors.New("no") })
	for _, err := range together(t, s, &restoration{}, &restoration{since: time.Now()}, fails) {
		require.ErrorContains(t, err, "no")
	}
	record, _, err := s.Insert(t.Context(), due("a1", 0))
	require.NoError(t, err)
	require.NotNil(t, record.Reason, "the store is still marked")
	assert.True(t, since.Equal(record.FirstUsed))
}
