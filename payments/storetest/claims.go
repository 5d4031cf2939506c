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
		row := newRow(fmt.Sprintf("crowd-%04d", i), payments.WorkBegin)
		row.Account = "cl_crowd"
		if row.Due = past(5); i%2 == 0 {
			row.Due = past(6) // its order is that of the inserts, whatever is due first
		}
		insert(t, s, row)
	}
	for i := range 3 {
		row := newRow(fmt.Sprintf("z-quiet-%d", i), payments.WorkBegin)
		row.Account = "cl_quiet"
		insert(t, s, row)
	}
	rows := claim(t, s, "me", payments.WorkBegin, 6, long).Rows
	equal(t, "rows", len(rows), 6)
	inTurns(t, rows, map[dapi.ClientID]string{"cl_crowd": "crowd-%04d", "cl_quiet": "z-quiet-%d"})

	rows = claim(t, s, "me", payments.WorkBegin, 200, long).Rows
	equal(t, "rows of the account that is left", len(rows), 200)
	equal(t, "its first", rows[0].Key, moneymovement.Key("crowd-0003"))
	equal(t, "its last", rows[199].Key, moneymovement.Key("crowd-0202"))
	for i := range 10 {
		late := newRow(fmt.Sprintf("z-late-%d", i), payments.WorkBegin)
		late.Account = ""
		insert(t, s, late)
	}
	rows = claim(t, s, "me", payments.WorkBegin, 2, long).Rows
	if keys := keysOf(rows); len(keys) != 2 || keys[0] != "z-late-0" && keys[1] != "z-late-0" {
		t.Fatalf("a new account waits for a crowded one: %q came first", keys)
	}
	of := map[dapi.ClientID]int{}
	for _, row := range claim(t, s, "me", payments.WorkBegin, 8, long).Rows {
		of[row.Account]++
	}
	if of[""] < 3 || of["cl_crowd"] < 3 {
		t.Fatalf("a new account and an old one do not take turns: %v rows", of)
	}
}

// inTurns checks that each round has one row of each account, in the order of inserts.
func inTurns(t *testing.T, rows []payments.Row, names map[dapi.ClientID]string) {
	t.Helper()
	for round := 0; round*len(names) < len(rows); round++ {
		got := map[moneymovement.Key]bool{}
		for _, row := range rows[round*len(names) : (round+1)*len(names)] {
			got[row.Key] = true
		}
		for _, name := range names {
			if key := moneymovement.Key(fmt.Sprintf(name, round)); !got[key] {
				t.Fatalf("round %d lacks %q: all rows are %q", round, key, keysOf(rows))
			}
		}
	}
}

func claimInTheOrderOfDue(t *testing.T, s payments.Store) {
	for _, work := range []payments.Work{payments.WorkAgain, payments.WorkFollow} {
		for i, minutes := range []int{5, 9, 1, 7} {
			row := newRow(fmt.Sprintf("w%d-%d", work, i), work)
			row.Account, row.Due = account(i%2), past(minutes)
			insert(t, s, row)
		}
	}
	insert(t, s, newRow("begin", payments.WorkBegin))
	done := newRow("done", payments.WorkNone)
	done.Due = time.Time{}
	insert(t, s, done)
	for _, work := range []payments.Work{payments.WorkAgain, payments.WorkFollow} {
		name := func(i int) moneymovement.Key { return moneymovement.Key(fmt.Sprintf("w%d-%d", work, i)) }
		equalKeys(t, "no row", claim(t, s, "me", work, 0, long).Rows)
		equalKeys(t, "the first two", claim(t, s, "me", work, 2, long).Rows, name(1), name(3))
		equalKeys(t, "the others", claim(t, s, "me", work, 9, long).Rows, name(0), name(2))
		equalKeys(t, "all are claimed", claim(t, s, "me", work, 9, long).Rows)
	}
	equalKeys(t, "rows to begin", claim(t, s, "me", payments.WorkBegin, 9, long).Rows, "begin")
}

func claimSaysWhatIsNext(t *testing.T, s payments.Store) {
	for _, work := range []payments.Work{payments.WorkBegin, payments.WorkAgain, payments.WorkFollow} {
		next := func(what string, limit int, keys []moneymovement.Key, want time.Time) {
			t.Helper()
			claimed := claim(t, s, "me", work, limit, long)
			equalKeys(t, what, claimed.Rows, keys...)
			if !claimed.Next.Equal(want) {
				t.Fatalf("%s: next is %v, want %v", what, claimed.Next, want)
			}
		}
		name := func(s string) moneymovement.Key { return moneymovement.Key(fmt.Sprintf("%d-%s", work, s)) }
		next("no rows", 5, nil, time.Time{})
		add := func(s2 string, due time.Time) {
			row := newRow(string(name(s2)), work)
			row.Due = due
			insert(t, s, row)
		}
		later, sooner, now := future(9), future(1), past(3)
		add("later", later)
		next("one that is due later", 5, nil, later)
		add("sooner", sooner)
		next("two that are due later", 5, nil, sooner)
		add("now", now)
		next("a limit that is reached", 0, nil, now)
		next("one that is due", 5, []moneymovement.Key{name("now")}, sooner)
		row := claimKey(t, s, "me", name("sooner"), long) // due or not
		next("a row that is leased", 5, nil, later)
		noError(t, s.Postpone(t.Context(), row))
		next("a row that was released", 5, nil, sooner)
	}
	soon := newRow("soon", payments.WorkFollow)
	soon.Due = time.Now().Add(brief).Truncate(time.Microsecond)
	insert(t, s, soon)
	wait(ended)
	equalKeys(t, "time goes on", claim(t, s, "me", payments.WorkFollow, 5, long).Rows, "soon")
}

func claimOfAKey(t *testing.T, s payments.Store) {
	claimFails := func(key moneymovement.Key, owner string) error {
		_, err := s.Claim(t.Context(), payments.Claim{Owner: owner, Key: key, Now: time.Now(), For: long})
		return err
	}
	equal(t, "key", failure[*payments.NotFound](t, claimFails("a", "me")).Key, moneymovement.Key("a"))
	row, other := newRow("a", payments.WorkNone), newRow("b", payments.WorkBegin)
	row.State, row.Due, other.Due = payments.NeedsDecision, time.Time{}, future(1)
	insert(t, s, row, other)
	equal(t, "key", failure[*payments.NotFound](t, claimFails("a-", "me")).Key, moneymovement.Key("a-"))
	claimed := claimKey(t, s, "me", "a", long)
	sameRow(t, claimed, row)
	for _, owner := range []string{"me", "another"} { // also the same owner must not pay twice
		equal(t, "key", failure[*payments.Busy](t, claimFails("a", owner)).Key, moneymovement.Key("a"))
	}
	sameRow(t, claimKey(t, s, "another", "b", long), other)
	save(t, s, claimed, true)
	claimKey(t, s, "another", "a", long)
}

func concurrentClaims(t *testing.T, s payments.Store) {
	const rows, claimers = 120, 8
	works := []payments.Work{payments.WorkBegin, payments.WorkAgain, payments.WorkFollow}
	for i := range rows {
		row := newRow(fmt.Sprintf("k%03d", i), works[i%len(works)])
		row.Account = account(i % 5)
		insert(t, s, row)
	}
	var group sync.WaitGroup
	var mu sync.Mutex
	owners := map[moneymovement.Key][]payments.Lease{}
	took := func(rows []payments.Row) {
		mu.Lock()
		defer mu.Unlock()
		for _, row := range rows {
			owners[row.Key] = append(owners[row.Key], row.Lease)
		}
	}
	for claimer := range claimers {
		group.Go(func() {
			for i := claimer; i < rows; i += 2 {
				claim := payments.Claim{Owner: fmt.Sprint("owner-", claimer), Now: time.Now(), For: long,
					Work: works[i%len(works)], Limit: 7}
				if i%10 == 0 {
					claim.Key = moneymovement.Key(fmt.Sprintf("k%03d", i))
				}
				claimed, err := s.Claim(t.Context(), claim)
				var busy *payments.Busy
				if err != nil && (claim.Key == "" || !errors.As(err, &busy)) {
					t.Error(err)
				}
				took(claimed.Rows)
			}
		})
	}
	group.Wait()
	equal(t, "claimed rows", len(owners), rows)
	for key, leases := range owners {
		if len(leases) != 1 {
			t.Fatalf("%q was claimed by %v", key, leases)
		}
	}
}
