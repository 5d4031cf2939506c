package storetest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/payments"
)

// The tests of Insert, Load and what a record keeps.

func insertHappensOnce(t *testing.T, s payments.Store) {
	first := newRecord("a", payments.WorkBegin)
	stored, inserted, err := s.Insert(t.Context(), first)
	noError(t, err)
	equal(t, "inserted", inserted, true)
	sameRecord(t, stored, first)
	equal(t, "position", load(t, s, "a").Position, stored.Position)
	if stored.Position == "" {
		t.Fatal("an inserted record has no position")
	}

	other := newRecord("a", payments.WorkFollow)
	other.Account, other.Due, other.Trace = "cl_2", future(1), "other"
	again, inserted, err := s.Insert(t.Context(), other)
	noError(t, err)
	equal(t, "inserted again", inserted, false)
	sameRecord(t, again, first)
	equal(t, "position of the stored record", again.Position, stored.Position)
	sameRecord(t, load(t, s, "a"), first)
	changes, err := s.Changes(t.Context(), stored.Position, 10)
	noError(t, err)
	equalKeys(t, "changes by an Insert of a known key", changes)

	claimed := claimKey(t, s, "me", "a", long)
	_, inserted, err = s.Insert(t.Context(), first)
	noError(t, err)
	equal(t, "inserted a third time", inserted, false)
	save(t, s, claimed, true) // Insert has not taken the lease
}

func concurrentInserts(t *testing.T, s payments.Store) {
	const writers, keys = 8, 25
	var group sync.WaitGroup
	var inserted atomic.Int64
	returned := make([][]payments.Record, writers)
	for writer := range writers {
		group.Go(func() {
			for k := range keys {
				record := newRecord(fmt.Sprintf("key-%d", k), payments.WorkBegin)
				record.Trace = fmt.Sprint("writer ", writer)
				stored, first, err := s.Insert(t.Context(), record)
				if err != nil {
					t.Error(err)
				}
				if first {
					inserted.Add(1)
				}
				returned[writer] = append(returned[writer], stored)
			}
		})
	}
	group.Wait()
	equal(t, "records inserted", inserted.Load(), int64(keys))
	for k := range keys {
		record := load(t, s, moneymovement.Key(fmt.Sprintf("key-%d", k)))
		for _, records := range returned {
			sameRecord(t, records[k], record)
			equal(t, "position", records[k].Position, record.Position)
		}
	}
}

func loadOfAnUnknownKey(t *testing.T, s payments.Store) {
	_, err := s.Load(t.Context(), "missing")
	equal(t, "key", failure[*payments.NotFound](t, err).Key, moneymovement.Key("missing"))
}

// characters are all that a key may contain.
const characters = "-.0123456789:ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz"

func oddKeys(t *testing.T, s payments.Store) {
	keys := []string{
		"aa", "aA", "Aa", "a.", "a:", "a-", "a_", "..", "--", "::", "__", "a-b", "a.b", "ab", "a0", "00", "1.0",
	}
	for i := range characters {
		keys = append(keys, characters[i:i+1])
	}
	for _, n := range []int{2, 64, 127, 128} {
		keys = append(keys, strings.Repeat("k", n))
	}
	keys = append(keys, strings.Repeat(".", 128), strings.Repeat("_", 127)+"-")
	for _, key := range keys {
		insert(t, s, newRecord(key, payments.WorkBegin))
	}
	slices.Sort(keys)
	records, err := s.List(t.Context(), payments.List{Limit: len(keys) + 1})
	noError(t, err)
	var want []moneymovement.Key
	for _, key := range keys {
		want = append(want, moneymovement.Key(key))
		sameRecord(t, load(t, s, moneymovement.Key(key)), newRecordAt(key, records))
		save(t, s, claimKey(t, s, "me", moneymovement.Key(key), long), true)
	}
	equalKeys(t, "the order of keys is that of their bytes", records, want...)
}

// newRecordAt returns the record that was inserted for a key, due as stored.
func newRecordAt(key string, records []payments.Record) payments.Record {
	record := newRecord(key, payments.WorkBegin)
	for _, stored := range records {
		if stored.Key == record.Key {
			record.Due = stored.Due
		}
	}
	return record
}

func largeAndOddText(t *testing.T, s payments.Store) {
	for i, text := range []string{
		strings.Repeat("0123456789abcdef", 4096),
		`{ "spaces" :  [ 1,2 ],"b":2,"a":1,   "b":3 }`,
		"\u00e9\U0001f4b6\u2028 ' \\ \" \\u0000 \\ud83d\\ude00 % _ $1 ?",
		"lines\n\r\n\tand \x00 and \x7f",
	} {
		record := newRecord(fmt.Sprintf("text-%d", i), payments.WorkFollow)
		record.Trace, record.Metadata = text, map[string]string{text: text}
		insert(t, s, record)
		sameRecord(t, load(t, s, record.Key), record)
		claimed := claimKey(t, s, "me", record.Key, long)
		sameRecord(t, claimed.Record, record)
		claimed.Trace += text
		save(t, s, claimed, true)
		equal(t, "text", load(t, s, record.Key).Trace, text+text)
	}
}

// A person decides about a record with its position: every way to read it has the same one.
func positionOfTheLastChange(t *testing.T, s payments.Store) {
	stored, _, err := s.Insert(t.Context(), newRecord("a", payments.WorkAgain))
	noError(t, err)
	check := func(want payments.Position) {
		t.Helper()
		equal(t, "position of Load", load(t, s, "a").Position, want)
		list, err := s.List(t.Context(), payments.List{Limit: 1})
		noError(t, err)
		equal(t, "position of List", list[0].Position, want)
	}
	check(stored.Position)
	claimed := claimKey(t, s, "me", "a", long)
	equal(t, "position of Claim", claimed.Position, stored.Position)
	saved, err := s.Save(t.Context(), claimed, true)
	noError(t, err)
	check(saved)
	claimed = claimKey(t, s, "me", "a", long)
	equal(t, "position of Claim", claimed.Position, saved)
	noError(t, s.Postpone(t.Context(), claimed))
	check(saved)
}

func memoryIsNotShared(t *testing.T, s payments.Store) {
	record := newRecord("a", payments.WorkBegin)
	want := newRecord("a", payments.WorkBegin)
	want.Due = record.Due
	stored, _, err := s.Insert(t.Context(), record)
	noError(t, err)
	spoil(record, stored)
	sameRecord(t, load(t, s, "a"), want)
	spoil(load(t, s, "a"))
	claimed := claimKey(t, s, "me", "a", long)
	sameRecord(t, claimed.Record, want)
	save(t, s, claimed, true)
	spoil(claimed.Record)
	list, err := s.List(t.Context(), payments.List{Limit: 1})
	noError(t, err)
	sameRecord(t, list[0], want)
	spoil(list...)
	changes, err := s.Changes(t.Context(), "", 1)
	noError(t, err)
	sameRecord(t, changes[0], want)
	spoil(changes...)
	sameRecord(t, load(t, s, "a"), want)
}

// spoil changes what records share with their copies.
func spoil(records ...payments.Record) {
	for _, record := range records {
		*record.Transfer = payments.Transfer{QuoteID: "spoiled"}
		clear(record.Metadata)
	}
}

// A record that this version cannot read keeps its text, and holds up no other one.
func unreadableRecords(t *testing.T, s payments.Store) {
	for _, work := range []payments.Work{payments.WorkBegin, payments.WorkAgain, payments.WorkFollow} {
		key := func(name string) moneymovement.Key { return moneymovement.Key(fmt.Sprintf("%d-%s", work, name)) }
		later := newRecord(string(key("later")), work)
		later.Kind, later.Due = "one_of_tomorrow", past(2)
		stored, inserted, err := s.Insert(t.Context(), later)
		noError(t, err)
		equal(t, "inserted", inserted, true)
		insert(t, s, newRecord(string(key("good")), work))
		unreadable := func(record payments.Record) {
			t.Helper()
			equal(t, "key", failure[*payments.Unreadable](t, record.Err()).Key, later.Key)
			equal(t, "key", record.Key, later.Key)
			equal(t, "position", record.Position, stored.Position)
		}
		unreadable(load(t, s, later.Key))
		listed := list(t, s, payments.List{After: moneymovement.Key(fmt.Sprintf("%d-", work)), Limit: 9})
		equalKeys(t, "a list", listed, key("good"), later.Key)
		unreadable(listed[1])
		again, inserted, err := s.Insert(t.Context(), later)
		noError(t, err)
		equal(t, "inserted again", inserted, false)
		unreadable(again)

		claimed := claim(t, s, "me", work, 9, long)
		if claimed[0].Key == key("good") {
			slices.Reverse(claimed)
		}
		equalClaims(t, "claims", claimed, later.Key, key("good"))
		unreadable(claimed[0].Record)
		_, err = s.Save(t.Context(), claimed[0], true)
		fails[*payments.Unreadable](t, err)
		save(t, s, claimed[1], false)
		claimed[0].Due = future(1)
		noError(t, s.Postpone(t.Context(), claimed[0]))
		changed := changes(t, s, "", 99)
		unreadable(changed[len(changed)-2])
		equalClaims(t, "claims of a record that was put off", claim(t, s, "me", work, 9, long))
	}
}

// A record that needs a newer program is shown, and waits for that program: no claim of due payments returns it.
func newerRecords(t *testing.T, s payments.Store) {
	for _, work := range []payments.Work{payments.WorkBegin, payments.WorkAgain, payments.WorkFollow} {
		key := func(name string) moneymovement.Key { return moneymovement.Key(fmt.Sprintf("%d-%s", work, name)) }
		newer := newRecord(string(key("newer")), work)
		newer.Needs, newer.Due = payments.RecordVersion+1, past(3)
		stored, inserted, err := s.Insert(t.Context(), newer)
		noError(t, err)
		equal(t, "inserted", inserted, true)
		known := newRecord(string(key("known")), work)
		known.Needs = payments.RecordVersion
		insert(t, s, known)

		shown := load(t, s, newer.Key)
		equal(t, "newer", failure[*payments.Unreadable](t, shown.Err()).Newer, true)
		equal(t, "state", shown.State, newer.State)
		equal(t, "terms", shown.Transfer, newer.Transfer)
		if !shown.Due.Equal(newer.Due) {
			t.Fatalf("due %v, want %v", shown.Due, newer.Due)
		}

		claimed, next := claimAndNext(t, s, "me", work, 9, long)
		equalClaims(t, "claims", claimed, known.Key)
		equal(t, "nothing more is due", next.IsZero(), true)
		equalClaims(t, "claims once more", claim(t, s, "me", work, 9, long))
		save(t, s, claimed[0], false)

		one := claimKey(t, s, "me", newer.Key, long)
		fails[*payments.Unreadable](t, one.Err())
		_, err = s.Save(t.Context(), one, true)
		fails[*payments.Unreadable](t, err)
		noError(t, s.Postpone(t.Context(), one))
		equalClaims(t, "claims after a claim of the key", claim(t, s, "me", work, 9, long))
		equal(t, "position", load(t, s, newer.Key).Position, stored.Position)
	}
	summary, err := s.Summary(t.Context())
	noError(t, err)
	counted := 0
	for _, count := range summary.ByState {
		counted += count
	}
	equal(t, "payments that are counted", counted, 6)
}

// An older program that saves a record keeps the members that it does not know.
func laterMembers(t *testing.T, s payments.Store) {
	record := newRecord("a", payments.WorkAgain)
	text, err := record.Encode()
	noError(t, err)
	text = append(text[:len(text)-1], `,"ofTomorrow":[{"who":"a person"}]}`...)
	record = payments.Decode("a", text)
	noError(t, record.Err())
	insert(t, s, record)
	claimed := claimKey(t, s, "me", "a", long)
	claimed.Trace = "of today"
	save(t, s, claimed, true)
	stored := load(t, s, "a")
	text, err = stored.Encode()
	noError(t, err)
	equal(t, "trace", stored.Trace, "of today")
	equal(t, "the member is kept", strings.Contains(string(text), `"ofTomorrow":[{"who":"a person"}]`), true)
}

func timesInAnyZone(t *testing.T, s payments.Store) {
	at := past(5)
	zones := []*time.Location{
		time.UTC, time.FixedZone("", 14*3600), time.FixedZone("", -12*3600), time.FixedZone("odd", 5*3600+1815),
	}
	var want []moneymovement.Key
	for i, zone := range zones {
		record := newRecord(fmt.Sprintf("z%d", 9-i), payments.WorkFollow)
		record.Due = at.Add(time.Duration(i) * time.Microsecond).In(zone)
		insert(t, s, record)
		sameRecord(t, load(t, s, record.Key), record)
		want = append(want, record.Key)
	}
	for i, due := range []time.Time{
		{}, time.Unix(0, 0), time.Unix(-1, 999_999_000), time.Date(1999, 12, 31, 23, 59, 59, 999_999_000, zones[3]),
		time.Date(2105, 2, 28, 1, 2, 3, 4_000, time.UTC),
	} {
		record := newRecord(fmt.Sprintf("d%d", i), payments.WorkAgain)
		if record.Due = due; due.IsZero() {
			waitFor(&record, payments.WorkNone)
		}
		insert(t, s, record)
		equal(t, "zero due time", load(t, s, record.Key).Due.IsZero(), due.IsZero())
	}
	claimed := claim(t, s, "me", payments.WorkFollow, 10, long)
	equalClaims(t, "an instant is the same in any zone", claimed, want...)

	fine := newRecord("fine", payments.WorkFollow)
	fine.Due = at.Add(-time.Nanosecond)
	stored, _, err := s.Insert(t.Context(), fine)
	noError(t, err)
	if late := stored.Due.Sub(fine.Due); late < 0 || late >= time.Microsecond {
		t.Fatalf("a due time of nanoseconds is kept %v late", late)
	}
}

func canceledContext(t *testing.T, s payments.Store) {
	record := newRecord("a", payments.WorkBegin)
	insert(t, s, record)
	claimed := claimKey(t, s, "me", "a", long)
	position := load(t, s, "a").Position
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	changed := claimed
	changed.State, changed.Due = moneymovement.PaymentPaid, future(1)
	for name, call := range map[string]func() error{
		"Insert": func() error { _, _, err := s.Insert(ctx, newRecord("b", payments.WorkBegin)); return err },
		"Load":   func() error { _, err := s.Load(ctx, "a"); return err },
		"List":   func() error { _, err := s.List(ctx, payments.List{Limit: 1}); return err },
		"Changes": func() error {
			_, err := s.Changes(ctx, "", 1)
			return err
		},
		"Claim": func() error {
			_, _, err := s.Claim(ctx,
				payments.Claim{Owner: "x", Key: "a", For: long})
			return err
		},
		"Extend": func() error {
			_, err := s.Extend(ctx, map[moneymovement.Key]payments.Lease{"a": claimed.Lease}, brief)
			return err
		},
		"Save":     func() error { _, err := s.Save(ctx, changed, true); return err },
		"Postpone": func() error { return s.Postpone(ctx, changed) },
		"Summary":  func() error { _, err := s.Summary(ctx); return err },

		"MarkRestored": func() error { return s.MarkRestored(ctx, past(60)) },
	} {
		if err := call(); !isCanceled(err) {
			t.Fatalf("%s with a context that has ended: %v", name, err)
		}
	}
	wait(ended) // the lease was not cut short
	_, _, err := s.Claim(t.Context(), payments.Claim{Owner: "x", Key: "a", Now: time.Now(), For: long})
	fails[*payments.CallInProgress](t, err)
	sameRecord(t, load(t, s, "a"), record)
	equal(t, "position", load(t, s, "a").Position, position)
	_, err = s.Load(t.Context(), "b")
	fails[*payments.NotFound](t, err)
	save(t, s, claimed, true)
}
