package storetest

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/payments"
)

// The tests of MarkRestored.

// A restored store changes what can have been paid since the copy, and nothing else.
func restoredStore(t *testing.T, s payments.Store) {
	since := past(60)
	before := map[moneymovement.Key]payments.Record{}
	for _, record := range everyState() {
		insert(t, s, record)
		before[record.Key] = load(t, s, record.Key)
	}
	newer := newRecord("newer", payments.WorkBegin)
	newer.Needs = payments.RecordVersion + 1
	_, _, err := s.Insert(t.Context(), newer)
	noError(t, err)
	claimed := map[moneymovement.Key]payments.Claimed{}
	for key := range before {
		claimed[key] = claimKey(t, s, "of before", key, long)
	}
	summary, err := s.Summary(t.Context())
	noError(t, err)
	equal(t, "not restored", summary.RestoredFrom.IsZero(), true)

	noError(t, s.MarkRestored(t.Context(), since))
	noError(t, s.MarkRestored(t.Context(), since.Add(time.Minute)))
	restoredAt(t, s, since)
	for key, was := range before {
		want, differs := was.Restored(since)
		stored := load(t, s, key)
		sameRecord(t, stored, want)
		equal(t, string(key)+": its position rises", stored.Position != was.Position, differs)
		_, err := s.Save(t.Context(), claimed[key], true)
		if !differs {
			noError(t, err)
			continue
		}
		leaseLost(t, err, claimed[key])
		one := claimKey(t, s, "of after", key, long)
		equal(t, string(key)+": its epoch rises", one.Lease.Epoch > claimed[key].Lease.Epoch, true)
		save(t, s, one, true)
	}
	equal(t, "a record of a newer program", load(t, s, "newer").State, newer.State)

	for _, record := range []payments.Record{newRecord("inserted", payments.WorkBegin), everyState()[3]} {
		record.Key = "later-" + record.Key
		want, _ := record.Restored(since)
		stored, inserted, err := s.Insert(t.Context(), record)
		noError(t, err)
		equal(t, "inserted", inserted, true)
		sameRecord(t, stored, want)
		sameRecord(t, load(t, s, record.Key), want)
		equal(t, "position", load(t, s, record.Key).Position, stored.Position)
	}
	equalClaims(t, "new payments", claim(t, s, "me", payments.WorkBegin, 9, long), "accepted", "paying",
		"later-inserted")

	earlier := since.Add(-time.Hour)
	noError(t, s.MarkRestored(t.Context(), earlier))
	restoredAt(t, s, earlier)
	noError(t, s.MarkRestored(t.Context(), time.Time{}))
	restoredAt(t, s, time.Time{})
	stored := load(t, s, "accepted")
	equal(t, "first use after the end", stored.FirstUsed.Equal(earlier), true)
	insert(t, s, newRecord("new", payments.WorkBegin))
	noError(t, s.MarkRestored(t.Context(), time.Time{}))
}

// everyState returns a record for each state, with and without money that may have left.
func everyState() []payments.Record {
	of := func(key string, state moneymovement.PaymentState, mayHaveLeft bool) payments.Record {
		record := newRecord(key, payments.WorkBegin)
		record.State, record.MayHaveLeft = state, mayHaveLeft
		if mayHaveLeft {
			record.FirstUsed = birth
		}
		return record
	}
	return []payments.Record{
		of("accepted", moneymovement.PaymentAccepted, false),
		of("paying", moneymovement.PaymentPaying, false),
		of("needs", moneymovement.PaymentNeedsDecision, false),
		of("doubt", moneymovement.PaymentInDoubt, true),
		of("needs-left", moneymovement.PaymentNeedsDecision, true),
		of("paid", moneymovement.PaymentPaid, true),
		of("completed", moneymovement.PaymentCompleted, true),
		of("refused", moneymovement.PaymentRefused, false),
		of("back", moneymovement.PaymentCameBack, true),
	}
}

// restoredAt checks what the summary says. Zero is a store that was not restored.
func restoredAt(t *testing.T, s payments.Store, since time.Time) {
	t.Helper()
	summary, err := s.Summary(t.Context())
	noError(t, err)
	if !summary.RestoredFrom.Equal(since) {
		t.Fatalf("restored from %v, want %v", summary.RestoredFrom, since)
	}
}

// Each record that is inserted while the store is marked says so, or was inserted before and is marked.
func insertsMeetARestore(t *testing.T, s payments.Store) {
	const writers, each = 4, 20
	since := past(60)
	var group sync.WaitGroup
	var inserted atomic.Int64
	for writer := range writers {
		group.Go(func() {
			for n := range each {
				record := newRecord(fmt.Sprintf("%d-%d", writer, n), payments.WorkBegin)
				if _, _, err := s.Insert(t.Context(), record); err != nil {
					t.Error(err)
				}
				inserted.Add(1)
			}
		})
	}
	for inserted.Load() < writers*each/4 {
		wait(time.Millisecond)
	}
	noError(t, s.MarkRestored(t.Context(), since))
	group.Wait()
	records := list(t, s, payments.List{Limit: 1000})
	equal(t, "records", len(records), writers*each)
	for _, record := range records {
		if record.Reason == nil || !record.FirstUsed.Equal(since) {
			t.Fatalf("%q is not marked: %v", record.Key, record.FirstUsed)
		}
	}
}

// Whoever claims a record while the store is marked has the mark, or cannot save: the record would be paid without a
// search.
func claimsMeetARestore(t *testing.T, s payments.Store) {
	const all, workers = 400, 4
	keys := map[moneymovement.Key]bool{}
	for n := range all {
		record := newRecord(fmt.Sprintf("%03d", n), payments.WorkBegin)
		record.Account = account(n % 7)
		insert(t, s, record)
		keys[record.Key] = true
	}
	for range all / 2 { // those have a lease that the mark takes
		claim(t, s, "of before", payments.WorkBegin, 1, long)
	}
	unmarked := make([][]payments.Claimed, workers)
	marked := make(chan struct{})
	var group sync.WaitGroup
	begun := make(chan struct{}, 2*workers)
	for worker := range workers {
		group.Go(func() {
			defer func() { begun <- struct{}{} }()
			for n := worker; ; n += workers {
				select {
				case <-marked:
					return
				default:
				}
				one := payments.Claim{Owner: "of after", Work: payments.WorkBegin, Limit: 1, Now: time.Now(), For: long}
				if n%2 == 0 {
					one.Key, one.Work, one.Limit = moneymovement.Key(fmt.Sprintf("%03d", n%all)), 0, 0
				}
				claimed, _, err := s.Claim(t.Context(), one)
				if held := (*payments.CallInProgress)(nil); err != nil && !errors.As(err, &held) {
					t.Error(err)
					return
				}
				if n == worker {
					begun <- struct{}{}
				}
				for _, record := range claimed {
					if record.Reason == nil {
						unmarked[worker] = append(unmarked[worker], record)
					}
				}
			}
		})
	}
	for range workers {
		<-begun
	}
	noError(t, s.MarkRestored(t.Context(), past(60)))
	close(marked)
	group.Wait()
	for _, claimed := range slices.Concat(unmarked...) {
		claimed.State = moneymovement.PaymentPaying
		_, err := s.Save(t.Context(), claimed, true)
		leaseLost(t, err, claimed)
	}
	for _, record := range list(t, s, payments.List{Limit: 2 * all}) {
		equal(t, string(record.Key)+" is marked", record.Reason != nil, true)
		delete(keys, record.Key)
	}
	equal(t, "records that are missing", len(keys), 0)
}
