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

// The tests of Insert, Load and what a row keeps.

func insertHappensOnce(t *testing.T, s payments.Store) {
	first := newRow("a", payments.WorkBegin)
	stored, inserted, err := s.Insert(t.Context(), first)
	noError(t, err)
	equal(t, "inserted", inserted, true)
	sameRow(t, stored, first)
	equal(t, "position", load(t, s, "a").Position, stored.Position)
	if stored.Position == "" {
		t.Fatal("an inserted row has no position")
	}

	other := newRow("a", payments.WorkFollow)
	other.Account, other.State, other.Due, other.Data = "cl_2", payments.Paid, future(1), []byte(`{"other":true}`)
	again, inserted, err := s.Insert(t.Context(), other)
	noError(t, err)
	equal(t, "inserted again", inserted, false)
	sameRow(t, again, first)
	equal(t, "position of the stored row", again.Position, stored.Position)
	sameRow(t, load(t, s, "a"), first)
	changes, err := s.Changes(t.Context(), stored.Position, 10)
	noError(t, err)
	equalKeys(t, "changes by an Insert of a known key", changes)

	claimed := claimKey(t, s, "me", "a", long)
	again, inserted, err = s.Insert(t.Context(), first)
	noError(t, err)
	equal(t, "inserted a third time", inserted, false)
	equal(t, "the lease of a row that Insert returns", again.Lease, payments.Lease{})
	save(t, s, claimed, true) // Insert has not taken the lease
}

func concurrentInserts(t *testing.T, s payments.Store) {
	const writers, keys = 8, 25
	var group sync.WaitGroup
	var inserted atomic.Int64
	returned := make([][]payments.Row, writers)
	for writer := range writers {
		group.Go(func() {
			for k := range keys {
				row := newRow(fmt.Sprintf("key-%d", k), payments.WorkBegin)
				row.Data = fmt.Appendf(nil, `{"writer":%d}`, writer)
				stored, first, err := s.Insert(t.Context(), row)
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
	equal(t, "rows inserted", inserted.Load(), int64(keys))
	for k := range keys {
		row := load(t, s, moneymovement.Key(fmt.Sprintf("key-%d", k)))
		for _, rows := range returned {
			sameRow(t, rows[k], row)
			equal(t, "position", rows[k].Position, row.Position)
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
		insert(t, s, newRow(key, payments.WorkBegin))
	}
	slices.Sort(keys)
	rows, err := s.List(t.Context(), payments.List{Limit: len(keys) + 1})
	noError(t, err)
	var want []moneymovement.Key
	for _, key := range keys {
		want = append(want, moneymovement.Key(key))
		sameRow(t, load(t, s, moneymovement.Key(key)), newRowAt(key, rows))
		save(t, s, claimKey(t, s, "me", moneymovement.Key(key), long), true)
	}
	equalKeys(t, "the order of keys is that of their bytes", rows, want...)
}

// newRowAt returns the row that was inserted for a key, due as stored.
func newRowAt(key string, rows []payments.Row) payments.Row {
	row := newRow(key, payments.WorkBegin)
	for _, stored := range rows {
		if stored.Key == row.Key {
			row.Due = stored.Due
		}
	}
	return row
}

func largeAndOddData(t *testing.T, s payments.Store) {
	for i, data := range []string{
		`{"text":"` + strings.Repeat("0123456789abcdef", 4096) + `"}`,
		`{ "spaces" :  [ 1,2 ],"b":2,"a":1,   "b":3 }`,
		`{"n":1e400,"m":12.50,"k":-0,"long":123456789012345678901234567890.000}`,
		`{"text":"` + "\u00e9\U0001f4b6\u2028 ' \\\" \\u0000 \\ud83d\\ude00 % _ $1 ?" + `"}`,
		"{\n\t\"lines\": \"a\\nb\"\r\n}",
	} {
		row := newRow(fmt.Sprintf("data-%d", i), payments.WorkFollow)
		row.Data = []byte(data)
		insert(t, s, row)
		sameRow(t, load(t, s, row.Key), row)
		claimed := claimKey(t, s, "me", row.Key, long)
		sameRow(t, claimed, row)
		claimed.Data = []byte(`[` + data + `]`)
		save(t, s, claimed, true)
		equal(t, "data", string(load(t, s, row.Key).Data), string(claimed.Data))
	}
}

func slicesAreNotShared(t *testing.T, s payments.Store) {
	row := newRow("a", payments.WorkBegin)
	want := string(row.Data)
	stored, _, err := s.Insert(t.Context(), row)
	noError(t, err)
	spoil(row, stored)
	equal(t, "data after Insert", string(load(t, s, "a").Data), want)
	spoil(load(t, s, "a"))
	claimed := claimKey(t, s, "me", "a", long)
	equal(t, "data after Load", string(claimed.Data), want)
	saved := claimed
	saved.Data = []byte(want)
	save(t, s, saved, true)
	spoil(claimed, saved)
	list, err := s.List(t.Context(), payments.List{Limit: 1})
	noError(t, err)
	equal(t, "data after Save", string(list[0].Data), want)
	spoil(list...)
	changes, err := s.Changes(t.Context(), "", 1)
	noError(t, err)
	equal(t, "data after List", string(changes[0].Data), want)
	spoil(changes...)
	equal(t, "data after Changes", string(load(t, s, "a").Data), want)
}

func spoil(rows ...payments.Row) {
	for _, row := range rows {
		clear(row.Data)
	}
}

func timesInAnyZone(t *testing.T, s payments.Store) {
	at := past(5)
	zones := []*time.Location{
		time.UTC, time.FixedZone("", 14*3600), time.FixedZone("", -12*3600), time.FixedZone("odd", 5*3600+1815),
	}
	var want []moneymovement.Key
	for i, zone := range zones {
		row := newRow(fmt.Sprintf("z%d", 9-i), payments.WorkFollow)
		row.Due = at.Add(time.Duration(i) * time.Microsecond).In(zone)
		insert(t, s, row)
		sameRow(t, load(t, s, row.Key), row)
		want = append(want, row.Key)
	}
	for i, due := range []time.Time{
		{}, time.Unix(0, 0), time.Unix(-1, 999_999_000), time.Date(1999, 12, 31, 23, 59, 59, 999_999_000, zones[3]),
		time.Date(2105, 2, 28, 1, 2, 3, 4_000, time.UTC),
	} {
		row := newRow(fmt.Sprintf("d%d", i), payments.WorkAgain)
		if row.Due = due; due.IsZero() {
			row.Work = payments.WorkNone
		}
		insert(t, s, row)
		equal(t, "zero due time", load(t, s, row.Key).Due.IsZero(), due.IsZero())
	}
	claimed := claim(t, s, "me", payments.WorkFollow, 10, long)
	equalKeys(t, "an instant is the same in any zone", claimed.Rows, want...)

	fine := newRow("fine", payments.WorkFollow)
	fine.Due = at.Add(-time.Nanosecond)
	stored, _, err := s.Insert(t.Context(), fine)
	noError(t, err)
	if late := stored.Due.Sub(fine.Due); late < 0 || late >= time.Microsecond {
		t.Fatalf("a due time of nanoseconds is kept %v late", late)
	}
}

func canceledContext(t *testing.T, s payments.Store) {
	row := newRow("a", payments.WorkBegin)
	insert(t, s, row)
	claimed := claimKey(t, s, "me", "a", long)
	position := load(t, s, "a").Position
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	changed := claimed
	changed.State, changed.Due, changed.Data = payments.Paid, future(1), []byte(`{}`)
	for name, call := range map[string]func() error{
		"Insert": func() error { _, _, err := s.Insert(ctx, newRow("b", payments.WorkBegin)); return err },
		"Load":   func() error { _, err := s.Load(ctx, "a"); return err },
		"List":   func() error { _, err := s.List(ctx, payments.List{Limit: 1}); return err },
		"Changes": func() error {
			_, err := s.Changes(ctx, "", 1)
			return err
		},
		"Claim": func() error { _, err := s.Claim(ctx, payments.Claim{Owner: "x", Key: "a", For: long}); return err },
		"Extend": func() error {
			_, err := s.Extend(ctx, map[moneymovement.Key]payments.Lease{"a": claimed.Lease}, brief)
			return err
		},
		"Save":     func() error { _, err := s.Save(ctx, changed, true); return err },
		"Postpone": func() error { return s.Postpone(ctx, changed) },
		"Summary":  func() error { _, err := s.Summary(ctx); return err },
	} {
		if err := call(); !isCanceled(err) {
			t.Fatalf("%s with a context that has ended: %v", name, err)
		}
	}
	wait(ended) // the lease was not cut short
	_, err := s.Claim(t.Context(), payments.Claim{Owner: "x", Key: "a", Now: time.Now(), For: long})
	fails[*payments.Busy](t, err)
	sameRow(t, load(t, s, "a"), row)
	equal(t, "position", load(t, s, "a").Position, position)
	_, err = s.Load(t.Context(), "b")
	fails[*payments.NotFound](t, err)
	save(t, s, claimed, true)
}
