package dapi_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/dapi"
)

func TestAStoredPositionIsTheSame(t *testing.T) {
	l := newChangingLedger(t, 2)
	for i, status := range []dapi.TransactionStatus{"completed", "pending", "failed"} {
		l.enter(fmt.Sprint("tx_", i), time.Duration(i)*time.Minute, status)
	}
	positions := map[string]dapi.LedgerPosition{
		"beginning of the ledger": {},
		"ledger from 2020-03-01T12:00:00Z, with 0 pending and 0 settled entries known": dapi.LedgerPositionAt(start),
	}
	for change, err := range l.account.Transactions.Changes(t.Context(), dapi.ChangesParams{}) {
		require.NoError(t, err)
		positions["ledger from 2020-03-01T11:02:00Z, with 1 pending and 2 settled entries known"] = change.Position
	}
	for text, position := range positions {
		stored, err := json.Marshal(position)
		require.NoError(t, err)
		again, err := json.Marshal(&position)
		require.NoError(t, err)
		assert.Equal(t, string(stored), string(again), "it is the same bytes each time")
		var read dapi.LedgerPosition
		require.NoError(t, json.Unmarshal(stored, &read))
		back, err := json.Marshal(read)
		require.NoError(t, err)
		assert.JSONEq(t, string(stored), string(back))
		assert.Equal(t, text, read.String())
	}
}

func TestWhatIsNoStoredPosition(t *testing.T) {
	for _, text := range []string{`"x"`, `[]`, `{}`, `{"version":1,"edge":"yesterday"}`, `{"version":1,"egde":null}`,
		`{"version":2,"edge":"2026-01-02T03:04:05Z"}`, `{"version":1,"settled":{"completed":{"a":"b"}}}`} {
		position := dapi.LedgerPositionAt(start)
		require.Error(t, json.Unmarshal([]byte(text), &position), text)
		assert.True(t, strings.HasPrefix(position.String(), "ledger from 2020"), "%s: it is as it was", text)
	}
}

func TestAPositionInTheMiddle(t *testing.T) {
	l := newChangingLedger(t, 2)
	for i := range 5 {
		l.enter(fmt.Sprint("tx_", i), time.Duration(i)*time.Minute, "pending")
	}
	got, at := l.changes(dapi.ChangesParams{Position: dapi.LedgerPositionAt(start.Add(3 * time.Minute))})
	assert.Equal(t, []string{"tx_3 >pending", "tx_4 >pending"}, got)
	l.becomes("tx_2", "completed")
	got, _ = l.changes(at)
	assert.Empty(t, got, "it was created before")
}

// A position does not grow with what has settled, and grows with what is pending.
func TestASmallPosition(t *testing.T) {
	l := newChangingLedger(t, 100)
	for i := range 2_000 {
		l.enter(fmt.Sprint("tx_", i), time.Duration(i)*time.Minute, "completed")
	}
	_, at := l.changes(dapi.ChangesParams{})
	stored, err := json.Marshal(at.Position)
	require.NoError(t, err)
	assert.Less(t, len(stored), 2_000, "61 minutes of 2,000 are known")
}
