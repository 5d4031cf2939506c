package storetest

import (
	"errors"
	"fmt"
	"slices"
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

// The tests of leases: Extend, Save and Postpone.

type leases = map[moneymovement.Key]payments.Lease

func endedLeaseIsReplaced(t *testing.T, s payments.Store) {
	insert(t, s, newRecord("a", payments.WorkAgain), newRecord("b", payments.WorkAgain))
	before := claim(t, s, "one", payments.WorkAgain, 5, brief)
	equal(t, "records", len(before), 2)
	positions := []payments.Position{load(t, s, "a").Position, load(t, s, "b").Position}
	wait(ended)
	after := claim(t, s, "two", payments.WorkAgain, 1, long)
	equal(t, "records of an ended lease", len(after), 1)
	after = append(after, claimKey(t, s, "one", other(after[0].Key), long)) // the same owner has a new lease, too
	for _, old := range before {
		for _, record := range after {
			if record.Key == old.Key && record.Lease.Epoch <= old.Lease.Epoch {
				t.Fatalf("the epoch went from %d to %d", old.Lease.Epoch, record.Lease.Epoch)
			}
		}
		late := old
		waitFor(&late.Record, payments.WorkNone)
		_, err := s.Save(t.Context(), late, true)
		leaseLost(t, err, late)
		leaseLost(t, s.Postpone(t.Context(), late), late)
		lost, err := s.Extend(t.Context(), leases{old.Key: old.Lease}, long)
		noError(t, err)
		equal(t, "lost leases", lost, []moneymovement.Key{old.Key})
		sameRecord(t, load(t, s, old.Key), old.Record)
	}
	equal(t, "positions", []payments.Position{load(t, s, "a").Position, load(t, s, "b").Position}, positions)
	for _, record := range after {
		save(t, s, record, true)
	}
}

func other(key moneymovement.Key) moneymovement.Key {
	if key == "a" {
		return "b"
	}
	return "a"
}

func endedLeaseThatNobodyReplaced(t *testing.T, s payments.Store) {
	insert(t, s, newRecord("saved", payments.WorkAgain), newRecord("extended", payments.WorkAgain),
		newRecord("postponed", payments.WorkAgain))
	held := map[moneymovement.Key]payments.Claimed{}
	for _, record := range claim(t, s, "me", payments.WorkAgain, 5, brief) {
		held[record.Key] = record
	}
	wait(ended)
	save(t, s, held["saved"], true)
	noError(t, s.Postpone(t.Context(), held["postponed"]))
	lost, err := s.Extend(t.Context(), leases{"extended": held["extended"].Lease}, long)
	noError(t, err)
	equal(t, "lost leases", len(lost), 0)
	_, _, err = s.Claim(t.Context(), payments.Claim{Owner: "x", Key: "extended", Now: time.Now(), For: long})
	fails[*payments.CallInProgress](t, err)
	save(t, s, held["extended"], true)
}

func epochsRise(t *testing.T, s payments.Store) {
	insert(t, s, newRecord("a", payments.WorkFollow), newRecord("b", payments.WorkFollow))
	last := map[moneymovement.Key]int64{}
	for i := range 9 { // after which two leases of each record have ended
		for _, record := range claim(t, s, fmt.Sprint("owner-", i%2), payments.WorkFollow, 5, brief) {
			if record.Lease.Epoch <= last[record.Key] {
				t.Fatalf("the epoch of %q went from %d to %d", record.Key, last[record.Key], record.Lease.Epoch)
			}
			last[record.Key] = record.Lease.Epoch
			switch {
			case i%4 == 3: // it keeps its lease, which ends
			case i%2 == 0:
				record.Due = past(2)
				noError(t, s.Postpone(t.Context(), record))
			default:
				save(t, s, record, true)
			}
		}
		if i%4 == 3 {
			wait(ended)
		}
	}
	equal(t, "claimed records", len(last), 2)
}

func extendKeepsALease(t *testing.T, s payments.Store) {
	insert(t, s, newRecord("a", payments.WorkAgain), newRecord("b", payments.WorkAgain))
	records := claim(t, s, "me", payments.WorkAgain, 5, brief)
	lost, err := s.Extend(t.Context(), leases{records[0].Key: records[0].Lease, records[1].Key: records[1].Lease}, long)
	noError(t, err)
	equal(t, "lost leases", len(lost), 0)
	wait(ended)
	equalClaims(t, "extended records", claim(t, s, "another", payments.WorkAgain, 5, long))
	lost, err = s.Extend(t.Context(), leases{records[0].Key: records[0].Lease}, brief) // from now on, which is sooner
	noError(t, err)
	equal(t, "lost leases", len(lost), 0)
	wait(ended)
	equalClaims(t, "a lease cut short", claim(t, s, "another", payments.WorkAgain, 5, long), records[0].Key)
	lost, err = s.Extend(t.Context(), nil, long)
	noError(t, err)
	equal(t, "lost leases of none", len(lost), 0)
}

func extendReturnsWhatIsLost(t *testing.T, s payments.Store) {
	for _, key := range []string{"held", "released", "postponed", "other-epoch", "other-owner", "never-claimed"} {
		insert(t, s, newRecord(key, payments.WorkAgain))
	}
	claimed := leases{"unknown": {Owner: "me", Epoch: 1}, "never-claimed": {Owner: "me", Epoch: 1}}
	for _, key := range []moneymovement.Key{"held", "released", "postponed", "other-epoch", "other-owner"} {
		record := claimKey(t, s, "me", key, long)
		claimed[key] = record.Lease
		switch key {
		case "released":
			save(t, s, record, true)
		case "postponed":
			noError(t, s.Postpone(t.Context(), record))
		case "other-epoch":
			claimed[key] = payments.Lease{Owner: "me", Epoch: record.Lease.Epoch + 1}
		case "other-owner":
			claimed[key] = payments.Lease{Owner: "you", Epoch: record.Lease.Epoch}
		}
	}
	lost, err := s.Extend(t.Context(), claimed, long)
	noError(t, err)
	slices.Sort(lost)
	equal(t, "lost leases", lost, []moneymovement.Key{
		"never-claimed", "other-epoch", "other-owner", "postponed", "released", "unknown",
	})
}

func saveKeepsOrReleases(t *testing.T, s payments.Store) {
	insert(t, s, newRecord("a", payments.WorkBegin))
	record := claimKey(t, s, "me", "a", long)
	record.State, record.Calls, record.Due = moneymovement.PaymentPaying, 1, past(2)
	first := save(t, s, record, false)
	sameRecord(t, load(t, s, "a"), record.Record)
	equal(t, "position", load(t, s, "a").Position, first)
	equalClaims(t, "a record that was saved without release", claim(t, s, "x", payments.WorkAgain, 5, long))
	record.State, record.Calls, record.Due = moneymovement.PaymentPaid, 2, past(3)
	second := save(t, s, record, true)
	sameRecord(t, load(t, s, "a"), record.Record)
	equal(t, "position", load(t, s, "a").Position, second)
	_, err := s.Save(t.Context(), record, true)
	leaseLost(t, err, record)
	leaseLost(t, s.Postpone(t.Context(), record), record)
	equalClaims(t, "the class that was left", claim(t, s, "x", payments.WorkAgain, 5, long))
	next := claim(t, s, "x", payments.WorkFollow, 5, long)
	equalClaims(t, "a record that was released", next, "a")
	sameRecord(t, next[0].Record, record.Record)
	equal(t, "position of a claimed record", next[0].Position, second)

	waitFor(&next[0].Record, payments.WorkNone)
	save(t, s, next[0], true)
	sameRecord(t, load(t, s, "a"), next[0].Record)

	missing := payments.Claimed{Record: newRecord("missing", payments.WorkBegin)}
	missing.Lease = payments.Lease{Owner: "me", Epoch: 1}
	_, err = s.Save(t.Context(), missing, true)
	leaseLost(t, err, missing)
	leaseLost(t, s.Postpone(t.Context(), missing), missing)
	_, err = s.Save(t.Context(), payments.Claimed{Record: load(t, s, "a")}, true) // it was not claimed
	fails[*payments.LeaseLost](t, err)
}

// A claim returns what the save before it wrote, and never an older record.
func saveAndClaimMeet(t *testing.T, s payments.Store) {
	const records, workers, saves = 3, 6, 20
	for i := range records {
		insert(t, s, newRecord(fmt.Sprint("k", i), payments.WorkAgain))
	}
	var group sync.WaitGroup
	for worker := range workers {
		group.Go(func() {
			for done := 0; done < saves; {
				claim := payments.Claim{
					Owner: fmt.Sprint(worker), Work: payments.WorkAgain, Limit: 1, Now: time.Now(), For: long,
				}
				if worker%2 == 0 {
					claim.Key = moneymovement.Key(fmt.Sprint("k", done%records))
				}
				claimed, _, err := s.Claim(t.Context(), claim)
				var busy *payments.CallInProgress
				if err != nil && !errors.As(err, &busy) {
					t.Error(err)
					return
				}
				if len(claimed) == 0 {
					wait(time.Millisecond)
					continue
				}
				claimed[0].Calls++
				if _, err := s.Save(t.Context(), claimed[0], true); err != nil {
					t.Error(err)
					return
				}
				done++
			}
		})
	}
	group.Wait()
	total := 0
	for i := range records {
		total += load(t, s, moneymovement.Key(fmt.Sprint("k", i))).Calls - 1
	}
	equal(t, "saves", total, workers*saves)
}

func postponeChangesOnlyTheDueTime(t *testing.T, s payments.Store) {
	record := newRecord("a", payments.WorkAgain)
	insert(t, s, record)
	position := load(t, s, "a").Position
	for _, due := range []time.Time{future(7), past(4)} {
		claimed := claimKey(t, s, "me", "a", long)
		claimed.State, claimed.Due, claimed.Account, claimed.Trace = moneymovement.PaymentPaid, due, "cl_9", "not kept"
		noError(t, s.Postpone(t.Context(), claimed))
		leaseLost(t, s.Postpone(t.Context(), claimed), claimed)
		record.Due = due
		sameRecord(t, load(t, s, "a"), record)
		equal(t, "position", load(t, s, "a").Position, position)
		equalKeys(t, "changes", changes(t, s, position, 5))
		again, next := claimAndNext(t, s, "me", payments.WorkAgain, 5, long)
		if due.After(time.Now()) {
			equalClaims(t, "a postponed record", again)
			if !next.Equal(due) {
				t.Fatalf("next is %v, want %v", next, due)
			}
			continue
		}
		equalClaims(t, "a record that is due again", again, "a")
		sameRecord(t, again[0].Record, record)
	}
}
