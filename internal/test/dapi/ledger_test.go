package dapi_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/inprocess"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

// ledger stands in for the host's, with pages that shift while they are read: a cursor is a number of entries.
type ledger struct {
	*world
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
	w := newWorld(t)
	l := &ledger{world: w, account: w.integrator().Self(), size: size, between: func(int) {}}
	w.Wire.OnAnswer(func(r *http.Request, answer *http.Response) {
		if !strings.HasSuffix(r.URL.Path, "/transactions") {
			return
		}
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
		inprocess.SetBody(answer, text)
		answer.StatusCode = http.StatusOK
	})
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
	if change.LastLook {
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

// Each position of a run is one to go on from, whatever was delivered after it.
func TestEachPositionIsAPlaceToGoOnFrom(t *testing.T) {
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

// The ledger lists the newest entry first, so that of two of the same time the lower one was entered first.
func TestChangesOfTheSameTimeComeAsTheyWereEntered(t *testing.T) {
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
	assert.Equal(t, []string{"tx_8 >completed"}, got, "the next look finds it")
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

// An entry that is dated in the future, as by a clock that is off, does not hide the entries that come until then.
func TestAnEntryOfTheFutureHidesNothing(t *testing.T) {
	l := newChangingLedger(t, 2)
	l.enter("tx_future", time.Since(start)+100*365*24*time.Hour, "completed")
	got, at := l.changes(dapi.ChangesParams{})
	assert.Equal(t, []string{"tx_future >completed"}, got)
	l.enter("tx_now", time.Since(start), "pending")
	got, at = l.changes(at)
	assert.Equal(t, []string{"tx_now >pending"}, got, "and it is not older than what is looked at")
	l.becomes("tx_now", "completed")
	got, _ = l.changes(at)
	assert.Equal(t, []string{"tx_now pending>completed"}, got)
}

func TestAnEntryThatStaysPendingIsGivenUp(t *testing.T) {
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
	assert.Empty(t, got, "it is not looked at again")

	got, _ = l.changes(dapi.ChangesParams{PendingFor: day})
	assert.NotContains(t, strings.Join(got, ","), "last", "all have settled")
	l.becomes("tx_stuck", "pending")
	got, _ = l.changes(dapi.ChangesParams{PendingFor: day})
	assert.Contains(t, got, "tx_stuck >pending last")
}

// A job that did not run for longer than PendingFor still learns what became of each entry.
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

func TestALookReadsNoFurtherThanItMust(t *testing.T) {
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
	assert.Equal(t, 1, l.pages, "what settled so long ago is not looked at")

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
func TestALedgerInTheOppositeOrder(t *testing.T) {
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

func TestAnEntryThatCannotBeFollowed(t *testing.T) {
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

// The entries of a payout in each status, as the documentation of Transactions says of the sandbox host. The amount of
// an entry is that of the payout, which includes the fee.
func TestEntriesOfAPayoutInEachStatus(t *testing.T) {
	for end, want := range map[dapi.PayoutStatus][]string{
		dapi.PayoutStatusAwaitingApproval: nil,
		dapi.PayoutStatusCompleted:        {"payout out completed"},
		dapi.PayoutStatusFailed:           {"payout out failed"},
		dapi.PayoutStatusRefunded:         {"payout out completed", "refund in completed"},
	} {
		t.Run(string(end), func(t *testing.T) {
			w := newPayWorld(t)
			booked, err := w.account.Payouts.Book(t.Context(), w.asked, moneymovement.IdempotencyKey("invoice-42"))
			require.NoError(t, err)
			require.True(t, booked.Quote.Fee.IsPositive())
			if end != dapi.PayoutStatusAwaitingApproval {
				_, err = w.pay()
				require.NoError(t, err)
				_, err = w.account.Sandbox.SetPayoutStatus(t.Context(), booked.ID, end)
				require.NoError(t, err)
			}
			var entries []string
			for entry, err := range w.account.Transactions.All(t.Context(), dapi.ListTransactionsParams{}) {
				require.NoError(t, err)
				if entry.PayoutID != booked.ID {
					continue
				}
				entries = append(entries, string(entry.Type)+" "+string(entry.Direction)+" "+string(entry.Status))
				assert.True(t, entry.Amount.Equal(booked.Amount), "%s", entry.Amount)
			}
			slices.Reverse(entries)
			assert.Equal(t, want, entries)
		})
	}
}

// A payout is seen to leave and to arrive, and its money to come back, each soon after it happens.
func TestFollowDeliversWhatHappens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t,
			sandbox.WithSettings(func(s *sandbox.Settings) { s.PayoutStepAfter = sandbox.Duration(time.Hour) }))
		account := w.account()
		contact := w.Contact(account.Contacts, wallet())
		ctx, cancel := context.WithCancel(w.Context())
		defer cancel()
		var payment dapi.Payment
		began := time.Now()
		time.AfterFunc(10*time.Minute, func() {
			var err error
			payment, err = account.Payouts.Pay(ctx,
				dapi.PayoutCreate{ContactID: contact, Amount: amount("20"), Currency: dapi.USDC}, "payout-1",
				dapi.PayTerms{})
			assert.NoError(t, err)
		})
		time.AfterFunc(5*time.Hour, func() {
			completed, err := account.Payouts.Get(ctx, payment.Payout.ID)
			assert.NoError(t, err)
			assert.True(t, completed.Status.Final())
			_, err = account.Sandbox.SetPayoutStatus(ctx, payment.Payout.ID, dapi.PayoutStatusRefunded)
			assert.NoError(t, err)
		})

		var got []string
		var at []time.Duration
		var looks int
		for change, err := range account.Transactions.Follow(ctx, dapi.ChangesParams{},
			moneymovement.PollEvery(time.Second, 30*time.Second),
			moneymovement.OnProgress(func(p moneymovement.Progress) {
				looks++
				assert.Equal(t, "ledger", p.Resource)
				assert.Equal(t, "self", p.ID)
			})) {
			if err != nil {
				require.ErrorIs(t, err, context.Canceled)
				got = append(got, "ended")
				continue
			}
			got = append(got, string(change.Transaction.Type)+" "+string(change.Transaction.Status))
			at = append(at, time.Since(began))
			if change.Transaction.Type == dapi.TransactionTypeRefund {
				assert.Equal(t, payment.Payout.ID, change.Transaction.PayoutID)
				cancel()
			}
		}
		assert.Equal(t, []string{"deposit completed", "deposit completed", "payout pending", "payout completed",
			"refund completed", "ended"}, got)
		for i, when := range []time.Duration{0, 0, 10 * time.Minute, 130 * time.Minute, 5 * time.Hour} {
			assert.InDelta(t, float64(when), float64(at[i]), float64(31*time.Second))
		}
		assert.Equal(t, looks, w.Sent("ListTransactions"), "a look at a small ledger is one read")
		assert.Less(t, looks, 1300, "they get rarer while nothing changes")
	})
}

// A ledger that changes all the time is not read all the time.
func TestFollowPausesAfterChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		account := w.account()
		ctx, cancel := context.WithTimeout(w.Context(), time.Minute)
		defer cancel()
		for _, err := range account.Transactions.Follow(ctx, dapi.ChangesParams{},
			moneymovement.PollEvery(2*time.Second, 10*time.Second)) {
			if err != nil {
				require.ErrorIs(t, err, context.DeadlineExceeded)
				break
			}
			_, err := account.Sandbox.Deposit(w.Context(), dapi.DepositCreate{Amount: amount("1"), Currency: dapi.USDC},
				moneymovement.IdempotencyKey(moneymovement.Key(rand.Text())))
			require.NoError(t, err)
		}
		assert.LessOrEqual(t, w.Sent("ListTransactions"), 31)
	})
}

// The loop can be left at any time, and another program goes on from the stored position.
func TestFollowIsTakenUpAgain(t *testing.T) {
	w := newWorld(t)
	account := w.account()
	var params dapi.ChangesParams
	for range 2 {
		for change, err := range account.Transactions.Follow(t.Context(), params) {
			require.NoError(t, err)
			stored, err := json.Marshal(change.Position)
			require.NoError(t, err)
			require.NoError(t, json.Unmarshal(stored, &params.Position))
			break
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	for change, err := range w.integrator().Self().Transactions.Follow(ctx, params,
		moneymovement.OnProgress(func(p moneymovement.Progress) {
			assert.Equal(t, "unchanged", p.Status)
			cancel()
		})) {
		require.ErrorIs(t, err, context.Canceled)
		assert.Zero(t, change, "both were dealt with")
	}
}

func TestFollowOutlivesFailedLooks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		account := w.account()
		w.Host.Arm("GET", "/transactions", sandbox.Respond(http.StatusServiceUnavailable, "database_unavailable").
			Times(20))
		for change, err := range account.Transactions.Follow(t.Context(), dapi.ChangesParams{}) {
			require.NoError(t, err)
			assert.Equal(t, "100", change.Transaction.Amount.String())
			break
		}
		w.Host.Arm("GET", "/transactions", sandbox.Respond(http.StatusForbidden, "forbidden"))
		times := 0
		for _, err := range account.Transactions.Follow(t.Context(), dapi.ChangesParams{}) {
			as[*errors.Forbidden](t, err)
			times++
		}
		assert.Equal(t, 1, times, "it ends")
	})
}

// limiterFunc is a rate limiter that lets every call pass.
type limiterFunc func(moneymovement.RateCall)

func (f limiterFunc) Wait(_ context.Context, call moneymovement.RateCall) error {
	f(call)
	return nil
}

// Looks leave room in the window of reads to other calls, as all waits do.
func TestFollowReadsAsAWait(t *testing.T) {
	w := newWorld(t)
	var classes []moneymovement.RateClass
	account := w.Integrator(w.Developer(), moneymovement.WithRateLimiter(
		limiterFunc(func(call moneymovement.RateCall) {
			if call.Window == moneymovement.WindowReads {
				classes = append(classes, call.Class)
			}
		}))).Self()
	w.Credit(account.Sandbox, "1", dapi.USDC)
	classes = nil
	for _, err := range account.Transactions.Changes(t.Context(), dapi.ChangesParams{}) {
		require.NoError(t, err)
	}
	for _, err := range account.Transactions.Follow(t.Context(), dapi.ChangesParams{}) {
		require.NoError(t, err)
		break
	}
	assert.Equal(t, []moneymovement.RateClass{moneymovement.ClassRead, moneymovement.ClassPoll}, classes)
}

func TestWhatCannotBeFollowed(t *testing.T) {
	w := newWorld(t)
	platform := w.integrator()
	w.Credit(platform.Self().Sandbox, "1", dapi.USDC)
	var own dapi.LedgerPosition
	for change, err := range platform.Self().Transactions.Changes(t.Context(), dapi.ChangesParams{}) {
		require.NoError(t, err)
		own = change.Position
	}
	sent := w.Sent("ListTransactions")
	for field, params := range map[string]dapi.ChangesParams{
		"position": {Position: own}, "lateBy": {LateBy: -1}, "pendingFor": {PendingFor: -1},
	} {
		times := 0
		check := func(_ dapi.TransactionChange, err error) bool {
			times++
			assert.Equal(t, field, as[*errors.InvalidInput](t, err).Fields[0].Field)
			return true
		}
		platform.For("cl_acme").Transactions.Changes(t.Context(), params)(check)
		platform.For("cl_acme").Transactions.Follow(t.Context(), params)(check)
		assert.Equal(t, 2, times)
	}
	assert.Equal(t, sent, w.Sent("ListTransactions"))
}

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

// bookkeeper keeps rows of a ledger by its changes, and the position with them, as one database transaction would.
type bookkeeper struct {
	*world
	account *dapi.Account
	params  dapi.ChangesParams
	stored  []byte // the position
	rows    map[dapi.TransactionID]dapi.Transaction
}

// run deals with the changes since the stored position, and is killed after so many if that is not negative.
func (b *bookkeeper) run(killedAfter int) {
	b.Helper()
	params := b.params
	if b.stored != nil {
		require.NoError(b, json.Unmarshal(b.stored, &params.Position))
	}
	var last time.Time
	for change, err := range b.account.Transactions.Changes(b.Context(), params) {
		require.NoError(b, err)
		if killedAfter--; killedAfter == -1 {
			return
		}
		entry := change.Transaction
		row, known := b.rows[entry.ID]
		require.Equal(b, row.Status, change.Previous, "%s: a change is delivered once for each position", entry.ID)
		require.NotEqual(b, entry.Status, change.Previous)
		require.False(b, known && row.Status.Final(), "what has settled does not change")
		require.False(b, entry.CreatedAt.Before(last), "the oldest first")
		require.False(b, change.LastLook)
		last, b.rows[entry.ID] = entry.CreatedAt, entry
		b.stored, err = json.Marshal(change.Position)
		require.NoError(b, err)
	}
}

// compare holds the rows to the ledger, and their sum to the balance.
func (b *bookkeeper) compare(account string) {
	b.Helper()
	listed, sums := map[dapi.TransactionID]dapi.Transaction{}, map[string]decimal.Decimal{}
	for entry, err := range b.account.Transactions.All(b.Context(), dapi.ListTransactionsParams{}) {
		require.NoError(b, err)
		listed[entry.ID] = entry
	}
	require.Equal(b, listed, b.rows)
	for _, row := range b.rows {
		signed, ok := row.Signed()
		require.True(b, ok)
		if row.Status != dapi.TransactionStatusFailed {
			sums[string(row.Currency)] = sums[string(row.Currency)].Add(signed)
		}
	}
	for currency, sum := range sums {
		assert.Equal(b, b.Host.Ledger().Balances[account][currency].String(), sum.String(),
			"the entries that have not failed add up to the balance")
	}
}

// Whatever happens to payments, and whenever the bookkeeper is killed, its rows are those of the ledger in the end.
func TestEveryChangeOfTheLedgerIsDelivered(t *testing.T) {
	rapid.Check(t, func(drawn *rapid.T) {
		w := newWorld(t, sandbox.WithSettings(func(s *sandbox.Settings) {
			s.PayoutStepAfter = sandbox.Duration(2 * time.Hour)
		}))
		platform := w.integrator()
		client, err := platform.Clients.Create(t.Context(), dapi.ClientCreate{Email: "acme@example.com"})
		require.NoError(t, err)
		w.Host.Advance(time.Hour)
		b := &bookkeeper{world: w, account: platform.For(client.ID), rows: map[dapi.TransactionID]dapi.Transaction{}}
		other := platform.Self()
		w.Credit(other.Sandbox, "100", dapi.USDC)
		contacts := []dapi.ContactID{
			w.Contact(b.account.Contacts, sepa()), w.Contact(b.account.Contacts, wallet()),
		}
		toClient := w.Contact(other.Contacts, dapi.EmailContact("acme@example.com"))
		var paid []dapi.PayoutID
		number := 0
		key := func() moneymovement.Key { number++; return moneymovement.Key(fmt.Sprint("key-", number)) }

		drawn.Repeat(map[string]func(*rapid.T){
			"deposit": func(r *rapid.T) {
				cents := rapid.Int64Range(10, 10_000).Draw(r, "cents")
				_, err := b.account.Sandbox.Deposit(t.Context(),
					dapi.DepositCreate{Amount: decimal.New(cents, -2), Currency: dapi.USDC},
					moneymovement.IdempotencyKey(key()))
				require.NoError(t, err)
			},
			"pay": func(r *rapid.T) {
				payment, err := b.account.Payouts.Pay(t.Context(), dapi.PayoutCreate{
					ContactID: rapid.SampledFrom(contacts).Draw(r, "contact"),
					Amount:    decimal.New(rapid.Int64Range(200, 3_000).Draw(r, "cents"), -2), Currency: dapi.USDC,
				}, key(), dapi.PayTerms{})
				if err == nil { // the balance may be too low
					paid = append(paid, payment.Payout.ID)
				}
			},
			"be paid": func(r *rapid.T) {
				_, _ = other.Payouts.Pay(t.Context(), dapi.PayoutCreate{ContactID: toClient,
					Amount: decimal.New(rapid.Int64Range(100, 500).Draw(r, "cents"), -2), Currency: dapi.USDC}, key(),
					dapi.PayTerms{})
			},
			"end": func(r *rapid.T) {
				if len(paid) > 0 {
					_, _ = b.account.Sandbox.SetPayoutStatus(t.Context(), rapid.SampledFrom(paid).Draw(r, "payout"),
						rapid.SampledFrom([]dapi.PayoutStatus{"processing", "completed", "failed", "refunded"}).
							Draw(r, "to")) // what cannot be is refused
				}
			},
			"let time pass": func(r *rapid.T) {
				w.Host.Advance(rapid.SampledFrom([]time.Duration{time.Second, 30 * time.Minute, 3 * time.Hour,
					50 * time.Hour}).Draw(r, "for"))
			},
			"keep books":            func(*rapid.T) { b.run(-1); b.compare(string(client.ID)) },
			"keep books, and crash": func(r *rapid.T) { b.run(rapid.IntRange(0, 4).Draw(r, "after")) },
			"":                      func(*rapid.T) {},
		})
		b.run(-1)
		b.compare(string(client.ID))
		before := b.stored
		b.run(0)
		assert.Equal(t, before, b.stored, "nothing has changed")
	})
}
