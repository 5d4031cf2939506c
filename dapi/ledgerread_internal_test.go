package dapi

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// ledgerOf is a follower of a ledger that holds one settled entry a second, and is in memory.
func ledgerOf(n int, position LedgerPosition) *follower {
	start := time.Date(2020, 3, 1, 12, 0, 0, 0, time.UTC)
	return &follower{
		known: position.state(), now: time.Now, lateBy: time.Hour, pendingFor: defaultPendingFor,
		maxChanges: maxChangesPerRead,
		entries: func(yield func(Transaction, error) bool) {
			for i := n; i > 0; i-- {
				if !yield(Transaction{ID: TransactionID(fmt.Sprint("tx_", i)), Status: TransactionStatusCompleted,
					CreatedAt: start.Add(time.Duration(i) * time.Second)}, nil) {
					return
				}
			}
		},
	}
}

// Of a ledger of any length, a bounded part is in memory. All changes are delivered once and in order.
func TestLargeLedger(t *testing.T) {
	for _, most := range []int{1, 7, 100, 150, maxChangesPerRead} {
		const n = 200
		f := ledgerOf(n, LedgerPosition{})
		f.maxChanges = most
		next, reads := 1, 0
		entries := f.entries
		f.entries = func(yield func(Transaction, error) bool) { reads++; entries(yield) }
		f.catchUp(func(change TransactionChange, err error) bool {
			require.NoError(t, err)
			require.EqualValues(t, fmt.Sprint("tx_", next), change.Transaction.ID)
			next++
			return true
		})
		assert.Equal(t, n+1, next)
		assert.Equal(t, (n+most-1)/most, reads)
	}
}

func TestLedgerReadHoldsBoundedMemory(t *testing.T) {
	l := runningRead{follower: &follower{maxChanges: 7}, changes: map[TransactionID]TransactionChange{},
		ranks: map[TransactionID]int{}}
	for entry := range ledgerOf(200, LedgerPosition{}).entries {
		l.record(entry, "")
		require.Less(t, len(l.changes), 2*l.maxChanges)
		require.Len(t, l.ranks, len(l.changes))
	}
	assert.True(t, l.dropped)
}

// A position holds at most 5,000 settled entries, and delivers none of them again.
func TestPositionHasABoundedSize(t *testing.T) {
	var position LedgerPosition
	f := ledgerOf(3_600+2*maxSettledKept, position)
	f.lateBy = 24 * time.Hour
	f.catchUp(func(change TransactionChange, err error) bool {
		require.NoError(t, err)
		position = change.Position
		return true
	})
	known := position.state()
	assert.Len(t, known.Settled, maxSettledKept)
	stored, err := json.Marshal(position)
	require.NoError(t, err)
	assert.Less(t, len(stored), 160_000)

	again := ledgerOf(3_600+2*maxSettledKept, position)
	again.lateBy = 24 * time.Hour
	again.catchUp(func(change TransactionChange, _ error) bool {
		t.Errorf("%s is delivered again", change.Transaction.ID)
		return false
	})
}

// If too many entries are pending, the oldest get a last change, and are not followed any more.
func TestTooManyPendingEntries(t *testing.T) {
	f := ledgerOf(maxPendingKept+3, LedgerPosition{})
	settled := f.entries
	f.entries = func(yield func(Transaction, error) bool) {
		settled(func(entry Transaction, err error) bool {
			entry.Status = TransactionStatusPending
			return yield(entry, err)
		})
	}
	var givenUp []TransactionID
	for range 3 {
		f.catchUp(func(change TransactionChange, err error) bool {
			require.NoError(t, err)
			if change.LastChange {
				givenUp = append(givenUp, change.Transaction.ID)
			}
			return true
		})
	}
	assert.Equal(t, []TransactionID{"tx_1", "tx_2", "tx_3"}, givenUp)
	assert.Len(t, f.known.Pending, maxPendingKept)
}

// A read of the newest entries stops before an old pending entry. A full read finds its new status.
func TestReadOfNewestEntriesOnly(t *testing.T) {
	f := ledgerOf(10_000, LedgerPosition{})
	settled, stuck := f.entries, TransactionStatusPending
	read := 0
	f.entries = func(yield func(Transaction, error) bool) {
		settled(func(entry Transaction, err error) bool {
			read++
			if entry.ID == "tx_1" {
				entry.Status = stuck
			}
			return yield(entry, err)
		})
	}
	f.catchUp(func(_ TransactionChange, err error) bool { return err == nil })
	stuck, read, f.newestOnly = TransactionStatusFailed, 0, true
	found, err := f.read()
	require.NoError(t, err)
	assert.Empty(t, found.changes)
	assert.Less(t, read, 7_210, "two hours of one entry a second")

	f.newestOnly = false
	found, err = f.read()
	require.NoError(t, err)
	require.Len(t, found.changes, 1)
	assert.Equal(t, TransactionStatusPending, found.changes[0].Previous)
}

// Reads back to an old entry take at most a tenth of the time.
func TestFullReadsTakeATenthOfTheTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := ledgerOf(300, LedgerPosition{})
		f.lateBy, f.now = time.Minute, func() time.Time { return time.Date(2021, 1, 1, 0, 0, 0, 0, time.UTC) }
		client, err := transport.New("https://host.example", "", transport.Config{})
		require.NoError(t, err)
		f.low.transport = client
		settled := f.entries
		deep := 0
		f.entries = func(yield func(Transaction, error) bool) {
			settled(func(entry Transaction, err error) bool {
				if entry.ID == "tx_1" {
					entry.Status = TransactionStatusPending
					deep++
					time.Sleep(time.Minute) // as many pages take
				}
				return yield(entry, err)
			})
		}
		f.catchUp(func(_ TransactionChange, err error) bool { return err == nil })
		deep = 0
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Hour)
		defer cancel()
		_, err = f.await(ctx, []moneymovement.WaitOption{moneymovement.PollEvery(500*time.Millisecond, 15*time.Second)})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.InDelta(t, 5*60/11, deep, 3)
	})
}
