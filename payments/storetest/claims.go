package storetest

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/payments"
)

// The tests of Claim.

func claimTakesTurns(t *testing.T, s payments.Store) {
	const crowd = 1000
	for i := range crowd {
		record := newRecord(fmt.Sprintf("crowd-%04d", i), payments.WorkBegin)
		record.Account = "cl_crowd"
		if record.Due = past(5); i%2 == 0 {
			record.Due = past(6) // its order is that of the inserts, whatever is due first
		}
		insert(t, s, record)
	}
	for i := range 3 {
		record := newRecord(fmt.Sprintf("z-quiet-%d", i), payments.WorkBegin)
		record.Account = "cl_quiet"
		insert(t, s, record)
	}
	records := claim(t, s, "me", payments.WorkBegin, 6, long)
	equal(t, "records", len(records), 6)
	inTurns(t, recordsOf(records), map[dapi.ClientID]string{"cl_crowd": "crowd-%04d", "cl_quiet": "z-quiet-%d"})

	records = claim(t, s, "me", payments.WorkBegin, 200, long)
	equal(t, "records of the account that is left", len(records), 200)
	equal(t, "its first", records[0].Key, moneymovement.Key("crowd-0003"))
	equal(t, "its last", records[199].Key, moneymovement.Key("crowd-0202"))
	for i := range 10 {
		late := newRecord(fmt.Sprintf("z-late-%d", i), payments.WorkBegin)
		late.Account = ""
		insert(t, s, late)
	}
	records = claim(t, s, "me", payments.WorkBegin, 2, long)
	if keys := keysOf(recordsOf(records)); len(keys) != 2 || keys[0] != "z-late-0" && keys[1] != "z-late-0" {
		t.Fatalf("a new account waits for a crowded one: %q came first", keys)
	}
	of := map[dapi.ClientID]int{}
	for _, record := range claim(t, s, "me", payments.WorkBegin, 8, long) {
		of[record.Account]++
	}
	if of[""] < 3 || of["cl_crowd"] < 3 {
		t.Fatalf("a new account and an old one do not take turns: %v records", of)
	}
}

// inTurns checks that each round has one record of each account, in the order of inserts.
func inTurns(t *testing.T, records []payments.Record, names map[dapi.ClientID]string) {
	t.Helper()
	for round := 0; round*len(names) < len(records); round++ {
		got := map[moneymovement.Key]bool{}
		for _, record := range records[round*len(names) : (round+1)*len(names)] {
			got[record.Key] = true
		}
		for _, name := range names {
			if key := moneymovement.Key(fmt.Sprintf(name, round)); !got[key] {
				t.Fatalf("round %d lacks %q: all records are %q", round, key, keysOf(records))
			}
		}
	}
}

func claimInTheOrderOfDue(t *testing.T, s payments.Store) {
	for _, work := range []payments.Work{payments.WorkAgain, payments.WorkFollow} {
		for i, minutes := range []int{5, 9, 1, 7} {
			record := newRecord(fmt.Sprintf("w%d-%d", work, i), work)
			record.Account, record.Due = account(i%2), past(minutes)
			insert(t, s, record)
		}
	}
	insert(t, s, newRecord("begin", payments.WorkBegin))
	done := newRecord("done", payments.WorkNone)
	insert(t, s, done)
	for _, work := range []payments.Work{payments.WorkAgain, payments.WorkFollow} {
		name := func(i int) moneymovement.Key { return moneymovement.Key(fmt.Sprintf("w%d-%d", work, i)) }
		equalClaims(t, "no record", claim(t, s, "me", work, 0, long))
		equalClaims(t, "the first two", claim(t, s, "me", work, 2, long), name(1), name(3))
		equalClaims(t, "the others", claim(t, s, "me", work, 9, long), name(0), name(2))
		equalClaims(t, "all are claimed", claim(t, s, "me", work, 9, long))
	}
	equalClaims(t, "records to begin", claim(t, s, "me", payments.WorkBegin, 9, long), "begin")
}

func claimSaysWhatIsNext(t *testing.T, s payments.Store) {
	for _, work := range []payments.Work{payments.WorkBegin, payments.WorkAgain, payments.WorkFollow} {
		next := func(what string, limit int, keys []moneymovement.Key, want time.Time) {
			t.Helper()
			claimed, next := claimAndNext(t, s, "me", work, limit, long)
			equalClaims(t, what, claimed, keys...)
			if !next.Equal(want) {
				t.Fatalf("%s: next is %v, want %v", what, next, want)
			}
		}
		name := func(s string) moneymovement.Key { return moneymovement.Key(fmt.Sprintf("%d-%s", work, s)) }
		next("no records", 5, nil, time.Time{})
		add := func(s2 string, due time.Time) {
			record := newRecord(string(name(s2)), work)
			record.Due = due
			insert(t, s, record)
		}
		later, sooner, now := future(9), future(1), past(3)
		add("later", later)
		next("one that is due later", 5, nil, later)
		add("sooner", sooner)
		next("two that are due later", 5, nil, sooner)
		add("now", now)
		next("a limit that is reached", 0, nil, now)
		next("one that is due", 5, []moneymovement.Key{name("now")}, sooner)
		record := claimKey(t, s, "me", name("sooner"), long) // due or not
		next("a record that is leased", 5, nil, later)
		noError(t, s.Postpone(t.Context(), record))
		next("a record that was released", 5, nil, sooner)
	}
	soon := newRecord("soon", payments.WorkFollow)
	soon.Due = time.Now().Add(brief).Truncate(time.Microsecond)
	insert(t, s, soon)
	wait(ended)
	equalClaims(t, "time goes on", claim(t, s, "me", payments.WorkFollow, 5, long), "soon")
}

func claimOfAKey(t *testing.T, s payments.Store) {
	claimFails := func(key moneymovement.Key, owner string) error {
		_, _, err := s.Claim(t.Context(), payments.Claim{Owner: owner, Key: key, Now: time.Now(), For: long})
		return err
	}
	equal(t, "key", failure[*payments.NotFound](t, claimFails("a", "me")).Key, moneymovement.Key("a"))
	record, other := newRecord("a", payments.WorkNone), newRecord("b", payments.WorkBegin)
	record.State, other.Due = moneymovement.PaymentNeedsDecision, future(1)
	insert(t, s, record, other)
	equal(t, "key", failure[*payments.NotFound](t, claimFails("a-", "me")).Key, moneymovement.Key("a-"))
	claimed := claimKey(t, s, "me", "a", long)
	sameRecord(t, claimed.Record, record)
	for _, owner := range []string{"me", "another"} { // also the same owner must not pay twice
		equal(t, "key", failure[*payments.CallInProgress](t, claimFails("a", owner)).Key, moneymovement.Key("a"))
	}
	sameRecord(t, claimKey(t, s, "another", "b", long).Record, other)
	save(t, s, claimed, true)
	claimKey(t, s, "another", "a", long)
}

func concurrentClaims(t *testing.T, s payments.Store) {
	const records, claimers = 120, 8
	works := []payments.Work{payments.WorkBegin, payments.WorkAgain, payments.WorkFollow}
	for i := range records {
		record := newRecord(fmt.Sprintf("k%03d", i), works[i%len(works)])
		record.Account = account(i % 5)
		insert(t, s, record)
	}
	var group sync.WaitGroup
	var mu sync.Mutex
	owners := map[moneymovement.Key][]payments.Lease{}
	took := func(claimed []payments.Claimed) {
		mu.Lock()
		defer mu.Unlock()
		for _, one := range claimed {
			owners[one.Key] = append(owners[one.Key], one.Lease)
		}
	}
	for claimer := range claimers {
		group.Go(func() {
			for i := claimer; i < records; i += 2 {
				claim := payments.Claim{Owner: fmt.Sprint("owner-", claimer), Now: time.Now(), For: long,
					Work: works[i%len(works)], Limit: 7}
				if i%10 == 0 {
					claim.Key = moneymovement.Key(fmt.Sprintf("k%03d", i))
				}
				claimed, _, err := s.Claim(t.Context(), claim)
				var busy *payments.CallInProgress
				if err != nil && (claim.Key == "" || !errors.As(err, &busy)) {
					t.Error(err)
				}
				took(claimed)
			}
		})
	}
	group.Wait()
	equal(t, "claimed records", len(owners), records)
	for key, leases := range owners {
		if len(leases) != 1 {
			t.Fatalf("%q was claimed by %v", key, leases)
		}
	}
}
