package dapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/testkit"
)

// ledger has pages that shift while they are read: a cursor is a number of entries.
type ledger struct {
	*testing.T

	account *dapi.Account
	entries []dapi.Transaction // as they are listed
	size    int                // of a page
	pages   int                // that were read
	between func(page int)     // runs before each page but the first
}

// start is when the ledgers of these tests begin.
var start = time.Date(2020, 3, 1, 12, 0, 0, 0, time.UTC)

func newChangingLedger(t *testing.T, size int) *ledger {
	t.Helper()
	l := &ledger{T: t, size: size, between: func(int) {}}
	l.account = sessionBy(t, testkit.Connection(func(r *http.Request) (*http.Response, error) {
		l.pages++
		assert.Equal(t, "100", r.URL.Query().Get("limit"))
		offset, _ := strconv.Atoi(r.URL.Query().Get("cursor"))
		if offset > 0 {
			l.between(l.pages)
		}
		var page dapi.TransactionPage
		page.Items = l.entries[min(offset, len(l.entries)):min(offset+l.size, len(l.entries))]
		if offset+l.size < len(l.entries) {
			page.NextCursor = fmt.Sprint(offset + l.size)
		}
		text, err := json.Marshal(page)
		assert.NoError(t, err)
		return testkit.Page(http.StatusOK, "application/json", string(text))(r)
	})).Self()
	return l
}

// enter puts an entry in front of the others.
func (l *ledger) enter(id string, after time.Duration, status dapi.TransactionStatus) {
	l.entries = slices.Insert(l.entries, 0, entryOf(id, after, status))
}

func entryOf(id string, after time.Duration, status dapi.TransactionStatus) dapi.Transaction {
	return dapi.Transaction{ID: dapi.TransactionID(id), Type: "payout", Direction: "out", Amount: amount("1"),
		Currency: dapi.USDC, Status: status, CreatedAt: start.Add(after)}
}

// becomes changes an entry in its place.
func (l *ledger) becomes(id string, status dapi.TransactionStatus) {
	l.Helper()
	i := slices.IndexFunc(l.entries, func(entry dapi.Transaction) bool { return string(entry.ID) == id })
	require.GreaterOrEqual(l, i, 0)
	l.entries[i].Status = status
}

// changes are those since a position, in short, and the position after them.
func (l *ledger) changes(params dapi.ChangesParams) (list []string, after dapi.ChangesParams) {
	l.Helper()
	for change, err := range l.account.Transactions.Changes(l.Context(), params) {
		require.NoError(l, err)
		list = append(list, inShort(change))
		params.Position = change.Position
	}
	stored, err := json.Marshal(params.Position)
	require.NoError(l, err)
	params.Position = dapi.LedgerPosition{}
	require.NoError(l, json.Unmarshal(stored, &params.Position))
	return list, params
}

func inShort(change dapi.TransactionChange) string {
	text := fmt.Sprintf("%s %s>%s", change.Transaction.ID, change.Previous, change.Transaction.Status)
	if change.LastChange {
		text += " last"
	}
	return text
}

func TestChangesComeOldestFirstAndOnce(t *testing.T) {
	l := newChangingLedger(t, 2)
	got, at := l.changes(dapi.ChangesParams{})
	assert.Empty(t, got)
	for i, status := range []dapi.TransactionStatus{"completed", "pending", "held", "completed", "failed"} {
		l.enter(fmt.Sprint("tx_", i), time.Duration(i)*time.Minute, status)
	}
	got, at = l.changes(at)
	assert.Equal(t, []string{"tx_0 >completed", "tx_1 >pending", "tx_2 >held", "tx_3 >completed", "tx_4 >failed"}, got)
	got, at = l.changes(at)
	assert.Empty(t, got)

	l.becomes("tx_2", "completed") // a status that this version does not know had not settled
	l.becomes("tx_1", "failed")
	l.becomes("tx_3", "failed") // what had settled changes all the same
	l.enter("tx_5", 5*time.Minute, "pending")
	got, at = l.changes(at)
	assert.Equal(t, []string{"tx_1 pending>failed", "tx_2 held>completed", "tx_3 completed>failed", "tx_5 >pending"},
		got)
	got, _ = l.changes(at)
	assert.Empty(t, got)
}

// Changes can be resumed from each delivered position.
func TestChangesResumeFromEachPosition(t *testing.T) {
	l := newChangingLedger(t, 3)
	for i := range 9 {
		l.enter(fmt.Sprint("tx_", i), time.Duration(i)*time.Minute,
			[]dapi.TransactionStatus{"pending", "completed"}[i%2])
	}
	all, _ := l.changes(dapi.ChangesParams{})
	require.Len(t, all, 9)
	var positions []dapi.LedgerPosition
	for change, err := range l.account.Transactions.Changes(t.Context(), dapi.ChangesParams{}) {
		require.NoError(t, err)
		positions = append(positions, change.Position)
	}
	for i, position := range positions {
		rest, _ := l.changes(dapi.ChangesParams{Position: position})
		assert.Equal(t, strings.Join(all[i+1:], ","), strings.Join(rest, ","))
	}
}

// The ledger lists the newest entry first. So of two entries with the same time, the one below is the older one.
func TestChangesOfTheSameTimeComeInLedgerOrder(t *testing.T) {
	l := newChangingLedger(t, 3)
	for _, id := range []string{"tx_c", "tx_a", "tx_d", "tx_b"} {
		l.enter(id, time.Minute, "completed")
	}
	got, _ := l.changes(dapi.ChangesParams{})
	assert.Equal(t, []string{"tx_c >completed", "tx_a >completed", "tx_d >completed", "tx_b >completed"}, got)
}

func TestPagesThatShiftWhileTheyAreRead(t *testing.T) {
	l := newChangingLedger(t, 2)
	for i := range 6 {
		l.enter(fmt.Sprint("tx_", i), time.Duration(i)*time.Minute, "pending")
	}
	l.between = func(page int) { // the last entry of each page comes again
		l.enter(fmt.Sprint("tx_new", page), time.Hour, "completed")
		l.becomes("tx_4", "completed")
	}
	got, at := l.changes(dapi.ChangesParams{})
	assert.Equal(t, []string{"tx_0 >pending", "tx_1 >pending", "tx_2 >pending", "tx_3 >pending", "tx_4 >pending",
		"tx_5 >pending"}, got, "each once, as it was read first")
	l.between = func(int) {}
	got, at = l.changes(at)
	assert.Equal(t, "tx_4 pending>completed", got[0])
	assert.Len(t, got, 1+l.entriesCalled("tx_new"))

	l.enter("tx_8", 61*time.Minute, "completed")
	l.enter("tx_9", 62*time.Minute, "completed")
	l.between = func(int) { // an entry goes, so that another one is between the pages
		l.entries = l.entries[1:]
		l.between = func(int) {}
	}
	l.size = 1
	got, at = l.changes(at)
	assert.Equal(t, []string{"tx_9 >completed"}, got)
	got, _ = l.changes(at)
	assert.Equal(t, []string{"tx_8 >completed"}, got, "the next read finds it")
}

func (l *ledger) entriesCalled(prefix string) (n int) {
	for _, entry := range l.entries {
		if strings.HasPrefix(string(entry.ID), prefix) {
			n++
		}
	}
	return n
}

func TestEntriesThatAppearLate(t *testing.T) {
	for name, params := range map[string]dapi.ChangesParams{
		"by default": {}, "as the caller says": {LateBy: 10 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			lateBy := max(params.LateBy, 10*time.Minute)
			if params.LateBy == 0 {
				lateBy = time.Hour
			}
			l := newChangingLedger(t, 2)
			l.enter("tx_first", 0, "completed")
			l.enter("tx_now", 24*time.Hour, "completed")
			got, at := l.changes(params)
			assert.Len(t, got, 2)

			l.enter("tx_late", 24*time.Hour-lateBy, "completed")
			l.enter("tx_too_late", 24*time.Hour-lateBy-1, "completed")
			l.enter("tx_later", 25*time.Hour, "completed")
			got, at = l.changes(at)
			assert.Equal(t, []string{"tx_late >completed", "tx_later >completed"}, got)
			got, _ = l.changes(at)
			assert.Empty(t, got)
		})
	}
}

// An entry with a time in the future, from a wrong clock, does not hide the entries before that time.
func TestEntryWithFutureTimeHidesNoOther(t *testing.T) {
	l := newChangingLedger(t, 2)
	l.enter("tx_future", time.Since(start)+100*365*24*time.Hour, "completed")
	got, at := l.changes(dapi.ChangesParams{})
	assert.Equal(t, []string{"tx_future >completed"}, got)
	l.enter("tx_now", time.Since(start), "pending")
	got, at = l.changes(at)
	assert.Equal(t, []string{"tx_now >pending"}, got, "and it is not older than what is read")
	l.becomes("tx_now", "completed")
	got, _ = l.changes(at)
	assert.Equal(t, []string{"tx_now pending>completed"}, got)
}

func TestEntryThatStaysPendingGetsALastChange(t *testing.T) {
	const day = 24 * time.Hour
	l := newChangingLedger(t, 3)
	l.enter("tx_stuck", 0, "pending")
	l.enter("tx_gone", 1, "pending")
	l.enter("tx_slow", 2, "pending")
	_, at := l.changes(dapi.ChangesParams{PendingFor: 7 * day})
	l.enter("tx_a", 7*day, "completed")
	got, at := l.changes(at)
	assert.Equal(t, []string{"tx_a >completed"}, got)

	l.enter("tx_b", 8*day, "completed")
	l.becomes("tx_slow", "completed")
	l.entries = slices.DeleteFunc(l.entries, func(entry dapi.Transaction) bool { return entry.ID == "tx_gone" })
	got, at = l.changes(at)
	assert.Equal(t, []string{"tx_stuck pending>pending last", "tx_gone pending>pending last",
		"tx_slow pending>completed", "tx_b >completed"}, got)
	l.becomes("tx_stuck", "completed")
	got, _ = l.changes(at)
	assert.Empty(t, got, "it is not read again")

	got, _ = l.changes(dapi.ChangesParams{PendingFor: day})
	assert.NotContains(t, strings.Join(got, ","), "last", "all have settled")
	l.becomes("tx_stuck", "pending")
	got, _ = l.changes(dapi.ChangesParams{PendingFor: day})
	assert.Contains(t, got, "tx_stuck >pending last")
}

// A job that did not run for longer than PendingFor still gets the outcome of each entry.
func TestChangesAfterALongPause(t *testing.T) {
	l := newChangingLedger(t, 2)
	l.enter("tx_a", 0, "pending")
	_, at := l.changes(dapi.ChangesParams{})
	l.becomes("tx_a", "failed")
	for i := range 10 {
		l.enter(fmt.Sprint("tx_", i), time.Duration(i+1)*30*24*time.Hour, "completed")
	}
	got, _ := l.changes(at)
	require.Len(t, got, 11)
	assert.Equal(t, "tx_a pending>failed", got[0])
}

func TestLedgerIsReadNoFurtherThanNeeded(t *testing.T) {
	l := newChangingLedger(t, 10)
	for i := range 200 {
		l.enter(fmt.Sprint("tx_", i), time.Duration(i)*time.Hour, "completed")
	}
	_, at := l.changes(dapi.ChangesParams{})
	assert.Equal(t, 20, l.pages)
	l.pages = 0
	_, at = l.changes(at)
	assert.Equal(t, 1, l.pages)

	l.entries[55].Status = "pending"
	_, at = l.changes(at)
	l.pages = 0
	got, _ := l.changes(at)
	assert.Empty(t, got)
	assert.Equal(t, 1, l.pages, "what settled so long ago is not read")

	l.pages = 0
	got, at = l.changes(dapi.ChangesParams{Position: dapi.LedgerPositionAt(start.Add(140 * time.Hour))})
	assert.Len(t, got, 60)
	assert.Equal(t, 7, l.pages)
	l.becomes("tx_144", "completed")
	l.pages = 0
	got, _ = l.changes(at)
	assert.Equal(t, []string{"tx_144 pending>completed"}, got)
	assert.Equal(t, 6, l.pages, "back to the oldest that is pending")
}

// Wrong assumption: the newest entry comes last.
func TestLedgerInOppositeOrder(t *testing.T) {
	l := newChangingLedger(t, 2)
	for i := range 7 {
		l.entries = append(l.entries, entryOf(fmt.Sprint("tx_", i), time.Duration(i)*24*time.Hour, "pending"))
	}
	got, at := l.changes(dapi.ChangesParams{})
	assert.Len(t, got, 7)
	l.becomes("tx_6", "completed")
	l.entries = append(l.entries, entryOf("tx_7", 7*24*time.Hour, "completed"))
	got, _ = l.changes(at)
	assert.Equal(t, []string{"tx_6 pending>completed", "tx_7 >completed"}, got)
}

func TestEntryWithoutIDOrTimeIsAnError(t *testing.T) {
	for name, entry := range map[string]dapi.Transaction{
		"no id": entryOf("", time.Hour, "pending"), "no time": {ID: "tx_1", Status: "pending"},
	} {
		t.Run(name, func(t *testing.T) {
			l := newChangingLedger(t, 2)
			l.entries = []dapi.Transaction{entry}
			for _, err := range l.account.Transactions.Changes(t.Context(), dapi.ChangesParams{}) {
				as[*errors.UnexpectedResponse](t, err)
			}
		})
	}
}

func TestPositionRoundTripsThroughJSON(t *testing.T) {
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

func TestInvalidStoredPositions(t *testing.T) {
	for _, text := range []string{`"x"`, `[]`, `{}`, `{"version":1,"edge":"yesterday"}`, `{"version":1,"egde":null}`,
		`{"version":2,"edge":"2026-01-02T03:04:05Z"}`, `{"version":1,"settled":{"completed":{"a":"b"}}}`} {
		position := dapi.LedgerPositionAt(start)
		require.Error(t, json.Unmarshal([]byte(text), &position), text)
		assert.True(t, strings.HasPrefix(position.String(), "ledger from 2020"), "%s: it is as it was", text)
	}
}

func TestPositionAtATimeExcludesEarlierEntries(t *testing.T) {
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

// A position grows with the number of pending entries, and not with the settled ones.
func TestPositionStaysSmall(t *testing.T) {
	l := newChangingLedger(t, 100)
	for i := range 2_000 {
		l.enter(fmt.Sprint("tx_", i), time.Duration(i)*time.Minute, "completed")
	}
	_, at := l.changes(dapi.ChangesParams{})
	stored, err := json.Marshal(at.Position)
	require.NoError(t, err)
	assert.Less(t, len(stored), 2_000, "61 minutes of 2,000 are known")
}
