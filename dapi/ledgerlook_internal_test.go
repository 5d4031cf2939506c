package dapi

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// ledgerOf is a follower of a ledger that holds one settled entry a second, and is in memory.
func ledgerOf(n int, position LedgerPosition) *follower {
	start := time.Date(2020, 3, 1, 12, 0, 0, 0, time.UTC)
	return &follower{
		known: position.state(), now: time.Now, lateBy: time.Hour, pendingFor: defaultPendingFor, most: maxChangesOfALook,
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

// However much there is, a bounded part of it is in memory, and all is delivered once and in order.
func TestALargeLedger(t *testing.T) {
	for _, most := range []int{1, 7, 100, 150, maxChangesOfALook} {
		const n = 200
		f := ledgerOf(n, LedgerPosition{})
		f.most = most
		next, looks := 1, 0
		entries := f.entries
		f.entries = func(yield func(Transaction, error) bool) { looks++; entries(yield) }
		f.catchUp(func(change TransactionChange, err error) bool {
			require.NoError(t, err)
			require.EqualValues(t, fmt.Sprint("tx_", next), change.Transaction.ID)
			next++
			return true
		})
		assert.Equal(t, n+1, next)
		assert.Equal(t, (n+most-1)/most, looks)
	}
}

// A position holds at most 5,000 settled entries, and delivers none of them again.
func TestAPositionIsBounded(t *testing.T) {
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

// Of too many entries that are pending, the oldest are given up, and the program hears of it.
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
			if change.LastLook {
				givenUp = append(givenUp, change.Transaction.ID)
			}
			return true
		})
	}
	assert.Equal(t, []TransactionID{"tx_1", "tx_2", "tx_3"}, givenUp)
	assert.Len(t, f.known.Pending, maxPendingKept)
}
