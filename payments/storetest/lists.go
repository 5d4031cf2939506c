package storetest

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/payments"
)

// The tests of List, Changes and Summary.

func listInTheOrderOfKeys(t *testing.T, s payments.Store) {
	records, err := s.List(t.Context(), payments.List{Limit: 10})
	noError(t, err)
	equal(t, "records of an empty store", len(records), 0)
	for _, i := range []int{3, 0, 4, 1, 2} {
		insert(t, s, newRecord(fmt.Sprintf("k%d", i), payments.WorkBegin))
	}
	equalKeys(t, "first page", list(t, s, payments.List{Limit: 2}), "k0", "k1")
	equalKeys(t, "second page", list(t, s, payments.List{Limit: 2, After: "k1"}), "k2", "k3")
	equalKeys(t, "last page", list(t, s, payments.List{Limit: 2, After: "k3"}), "k4")
	equalKeys(t, "after the end", list(t, s, payments.List{Limit: 2, After: "k4"}))
	equalKeys(t, "after a key that is not there", list(t, s, payments.List{Limit: 2, After: "k1-"}), "k2", "k3")
	claimKey(t, s, "me", "k2", long)
	equalKeys(t, "with a claimed record", list(t, s, payments.List{Limit: 10}), "k0", "k1", "k2", "k3", "k4")
}

func list(t *testing.T, s payments.Store, by payments.List) []payments.Record {
	t.Helper()
	records, err := s.List(t.Context(), by)
	noError(t, err)
	for _, record := range records {
		stored := load(t, s, record.Key)
		sameRecord(t, record, stored)
		equal(t, "position", record.Position, stored.Position)
	}
	return records
}

func listOfStatesAndAccounts(t *testing.T, s payments.Store) {
	for i, state := range []moneymovement.PaymentState{
		moneymovement.PaymentPaid, moneymovement.PaymentRefused, moneymovement.PaymentPaid,
		moneymovement.PaymentNeedsDecision, "a_later_state", moneymovement.PaymentPaid,
	} {
		record := newRecord(fmt.Sprintf("k%d", i), payments.WorkNone)
		if record.State = state; record.Work() != payments.WorkNone {
			record.Due = past(1)
		}
		if record.Account = account(1); i%2 == 0 {
			record.Account = "" // the credential's own
		}
		insert(t, s, record)
	}
	paid, refused := []moneymovement.PaymentState{moneymovement.PaymentPaid},
		[]moneymovement.PaymentState{moneymovement.PaymentRefused, moneymovement.PaymentNeedsDecision}
	later := []moneymovement.PaymentState{"a_later_state"}
	for name, c := range map[string]struct {
		list payments.List
		want []moneymovement.Key
	}{
		"a state":             {payments.List{States: paid, Limit: 9}, []moneymovement.Key{"k0", "k2", "k5"}},
		"a state, paged":      {payments.List{States: paid, Limit: 1, After: "k0"}, []moneymovement.Key{"k2"}},
		"two states":          {payments.List{States: refused, Limit: 9}, []moneymovement.Key{"k1", "k3"}},
		"two states, limited": {payments.List{States: refused, Limit: 1}, []moneymovement.Key{"k1"}},
		"a later state":       {payments.List{States: later, Limit: 9}, []moneymovement.Key{"k4"}},
		"a state of no record": {payments.List{States: []moneymovement.PaymentState{moneymovement.PaymentCameBack},
			Limit: 9}, nil},
		"an account": {payments.List{Account: "cl_1", ByAccount: true, Limit: 9},
			[]moneymovement.Key{"k1", "k3", "k5"}},
		"an account, paged": {payments.List{Account: "cl_1", ByAccount: true, Limit: 1, After: "k1"},
			[]moneymovement.Key{"k3"}},
		"the own account":            {payments.List{ByAccount: true, Limit: 9}, []moneymovement.Key{"k0", "k2", "k4"}},
		"an account of no record":    {payments.List{Account: "cl_9", ByAccount: true, Limit: 9}, nil},
		"an account without its use": {payments.List{Account: "cl_9", Limit: 2}, []moneymovement.Key{"k0", "k1"}},
		"a state and an account": {payments.List{States: paid, Account: "cl_1", ByAccount: true, Limit: 9},
			[]moneymovement.Key{"k5"}},
	} {
		equalKeys(t, name, list(t, s, c.list), c.want...)
	}
	record := claimKey(t, s, "me", "k0", long)
	record.State, record.Due = moneymovement.PaymentCameBack, time.Time{}
	save(t, s, record, true)
	equalKeys(t, "a state that was left", list(t, s, payments.List{States: paid, Limit: 9}), "k2", "k5")
	cameBack := payments.List{States: []moneymovement.PaymentState{moneymovement.PaymentCameBack}, Limit: 9}
	equalKeys(t, "a state that was reached", list(t, s, cameBack), "k0")
}

func changesInTheirOrder(t *testing.T, s payments.Store) {
	for _, key := range []string{"b", "a", "c"} {
		insert(t, s, newRecord(key, payments.WorkBegin))
	}
	records := changes(t, s, "", 10)
	equalKeys(t, "all changes", records, "b", "a", "c")
	equalKeys(t, "a limit", changes(t, s, "", 2), "b", "a")
	equalKeys(t, "after the second", changes(t, s, records[1].Position, 10), "c")
	equalKeys(t, "after the last", changes(t, s, records[2].Position, 10))

	record := claimKey(t, s, "me", "b", long)
	equalKeys(t, "a claim is not a change", changes(t, s, records[2].Position, 10))
	record.State = moneymovement.PaymentPaying
	first := save(t, s, record, false)
	record.State, record.Trace = moneymovement.PaymentPaid, "paid"
	second := save(t, s, record, true)
	if first == second || first == records[0].Position {
		t.Fatalf("positions repeat: %q, %q, %q", records[0].Position, first, second)
	}
	again := changes(t, s, "", 10)
	equalKeys(t, "a record that changed several times is there once", again, "a", "c", "b")
	equal(t, "the trace of the last change", again[2].Trace, "paid")
	equal(t, "position of the last change", again[2].Position, second)
	equalKeys(t, "after the change before", changes(t, s, first, 10), "b")
	equalKeys(t, "after the position of a change that was replaced", changes(t, s, records[0].Position, 10), "a", "c",
		"b")
}

func changes(t *testing.T, s payments.Store, after payments.Position, limit int) []payments.Record {
	t.Helper()
	records, err := s.Changes(t.Context(), after, limit)
	noError(t, err)
	return records
}

func changesUnderConcurrentWriters(t *testing.T, s payments.Store) {
	const writers, perWriter, saves = 6, 15, 3
	var running atomic.Int64
	var group sync.WaitGroup
	running.Store(writers)
	for writer := range writers {
		group.Go(func() {
			defer running.Add(-1)
			for i := range perWriter {
				key := fmt.Sprintf("w%d-%d", writer, i)
				if err := writeSome(t, s, newRecord(key, payments.WorkAgain), saves); err != nil {
					t.Errorf("%s: %v", key, err)
				}
			}
		})
	}
	seen := map[moneymovement.Key]string{}
	position, last := payments.Position(""), false
	for {
		records := changes(t, s, position, 7)
		for _, record := range records {
			seen[record.Key], position = record.Trace, record.Position
		}
		if len(records) == 0 {
			if last {
				break
			}
			last = running.Load() == 0 // then one more look shows all
			wait(time.Millisecond)
		}
	}
	group.Wait()
	equal(t, "records seen", len(seen), writers*perWriter)
	for key, trace := range seen {
		equal(t, "the last trace seen of "+string(key), trace, load(t, s, key).Trace)
	}
}

// writeSome inserts a record and saves it some times.
func writeSome(t *testing.T, s payments.Store, record payments.Record, saves int) error {
	if _, _, err := s.Insert(t.Context(), record); err != nil {
		return err
	}
	claimed, _, err := s.Claim(t.Context(), payments.Claim{Owner: "me", Key: record.Key, Now: time.Now(), For: long})
	if err != nil {
		return err
	}
	for n := range saves {
		claimed[0].Trace = fmt.Sprint("save ", n)
		if _, err := s.Save(t.Context(), claimed[0], n == saves-1); err != nil {
			return err
		}
	}
	return nil
}

func badPosition(t *testing.T, s payments.Store) {
	insert(t, s, newRecord("a", payments.WorkBegin))
	for _, position := range []payments.Position{"x", "-", "1;2", "99999999999999999999999999"} {
		_, err := s.Changes(t.Context(), position, 1)
		equal(t, "position", failure[*payments.BadPosition](t, err).Position, position)
	}
}

func summaryCounts(t *testing.T, s payments.Store) {
	check := func(oldest time.Time, want map[moneymovement.PaymentState]int) {
		t.Helper()
		summary, err := s.Summary(t.Context())
		noError(t, err)
		equal(t, "counts", fmt.Sprint(summary.ByState), fmt.Sprint(want))
		if !summary.OldestDue.Equal(oldest) {
			t.Fatalf("oldest due: got %v, want %v", summary.OldestDue, oldest)
		}
	}
	check(time.Time{}, map[moneymovement.PaymentState]int{})
	works := []payments.Work{payments.WorkFollow, payments.WorkBegin, payments.WorkAgain, payments.WorkNone}
	for i, work := range works {
		record := newRecord(fmt.Sprintf("k%d", i), work)
		if work != payments.WorkNone {
			record.Due = past(10 * (i + 1))
		}
		insert(t, s, record)
	}
	third := load(t, s, "k2").Due
	check(third, map[moneymovement.PaymentState]int{moneymovement.PaymentPaid: 1, moneymovement.PaymentAccepted: 2,
		moneymovement.PaymentCompleted: 1})
	record := claimKey(t, s, "me", "k2", long)
	// Also claimed work is due.
	check(third, map[moneymovement.PaymentState]int{moneymovement.PaymentPaid: 1, moneymovement.PaymentAccepted: 2,
		moneymovement.PaymentCompleted: 1})
	record.State, record.Due = "a_later_state", time.Time{}
	save(t, s, record, true)
	check(load(t, s, "k1").Due, map[moneymovement.PaymentState]int{
		moneymovement.PaymentPaid: 1, moneymovement.PaymentAccepted: 1, moneymovement.PaymentCompleted: 1,
		"a_later_state": 1,
	})
	for _, key := range []moneymovement.Key{"k0", "k1"} {
		record := claimKey(t, s, "me", key, long)
		record.State, record.Due = moneymovement.PaymentRefused, time.Time{}
		save(t, s, record, true)
	}
	check(time.Time{}, map[moneymovement.PaymentState]int{moneymovement.PaymentRefused: 2,
		moneymovement.PaymentCompleted: 1, "a_later_state": 1})
}
