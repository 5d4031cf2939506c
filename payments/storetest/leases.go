package storetest

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/payments"
)

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
