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
	insert(t, s, newRow("a", payments.WorkAgain), newRow("b", payments.WorkAgain))
	before := claim(t, s, "one", payments.WorkAgain, 5, brief).Rows
	equal(t, "rows", len(before), 2)
	positions := []payments.Position{load(t, s, "a").Position, load(t, s, "b").Position}
	wait(ended)
	after := claim(t, s, "two", payments.WorkAgain, 1, long).Rows
	equal(t, "rows of an ended lease", len(after), 1)
	after = append(after, claimKey(t, s, "one", other(after[0].Key), long)) // the same owner has a new lease, too
	for _, old := range before {
		for _, row := range after {
			if row.Key == old.Key && row.Lease.Epoch <= old.Lease.Epoch {
				t.Fatalf("the epoch went from %d to %d", old.Lease.Epoch, row.Lease.Epoch)
			}
		}
		late := old
		late.State, late.Work, late.Due = payments.Completed, payments.WorkNone, future(1)
		late.Data = []byte(`{"late":1}`)
		_, err := s.Save(t.Context(), late, true)
		leaseLost(t, err, late)
		leaseLost(t, s.Postpone(t.Context(), late), late)
		lost, err := s.Extend(t.Context(), leases{old.Key: old.Lease}, long)
		noError(t, err)
		equal(t, "lost leases", lost, []moneymovement.Key{old.Key})
		sameRow(t, load(t, s, old.Key), old)
	}
	equal(t, "positions", []payments.Position{load(t, s, "a").Position, load(t, s, "b").Position}, positions)
	for _, row := range after {
		save(t, s, row, true)
	}
}

func other(key moneymovement.Key) moneymovement.Key {
	if key == "a" {
		return "b"
	}
	return "a"
}

func endedLeaseThatNobodyReplaced(t *testing.T, s payments.Store) {
	insert(t, s, newRow("saved", payments.WorkAgain), newRow("extended", payments.WorkAgain),
		newRow("postponed", payments.WorkAgain))
	held := map[moneymovement.Key]payments.Row{}
	for _, row := range claim(t, s, "me", payments.WorkAgain, 5, brief).Rows {
		held[row.Key] = row
	}
	wait(ended)
	save(t, s, held["saved"], true)
	noError(t, s.Postpone(t.Context(), held["postponed"]))
	lost, err := s.Extend(t.Context(), leases{"extended": held["extended"].Lease}, long)
	noError(t, err)
	equal(t, "lost leases", len(lost), 0)
	_, err = s.Claim(t.Context(), payments.Claim{Owner: "x", Key: "extended", Now: time.Now(), For: long})
	fails[*payments.Busy](t, err)
	save(t, s, held["extended"], true)
}

func epochsRise(t *testing.T, s payments.Store) {
	insert(t, s, newRow("a", payments.WorkFollow), newRow("b", payments.WorkFollow))
	last := map[moneymovement.Key]int64{}
	for i := range 9 { // after which two leases of each row have ended
		for _, row := range claim(t, s, fmt.Sprint("owner-", i%2), payments.WorkFollow, 5, brief).Rows {
			if row.Lease.Epoch <= last[row.Key] {
				t.Fatalf("the epoch of %q went from %d to %d", row.Key, last[row.Key], row.Lease.Epoch)
			}
			last[row.Key] = row.Lease.Epoch
			switch {
			case i%4 == 3: // it keeps its lease, which ends
			case i%2 == 0:
				row.Due = past(2)
				noError(t, s.Postpone(t.Context(), row))
			default:
				save(t, s, row, true)
			}
		}
		if i%4 == 3 {
			wait(ended)
		}
	}
	equal(t, "claimed rows", len(last), 2)
}

func extendKeepsALease(t *testing.T, s payments.Store) {
	insert(t, s, newRow("a", payments.WorkAgain), newRow("b", payments.WorkAgain))
	rows := claim(t, s, "me", payments.WorkAgain, 5, brief).Rows
	lost, err := s.Extend(t.Context(), leases{rows[0].Key: rows[0].Lease, rows[1].Key: rows[1].Lease}, long)
	noError(t, err)
	equal(t, "lost leases", len(lost), 0)
	wait(ended)
	equalKeys(t, "extended rows", claim(t, s, "another", payments.WorkAgain, 5, long).Rows)
	lost, err = s.Extend(t.Context(), leases{rows[0].Key: rows[0].Lease}, brief) // from now on, which is sooner
	noError(t, err)
	equal(t, "lost leases", len(lost), 0)
	wait(ended)
	equalKeys(t, "a lease cut short", claim(t, s, "another", payments.WorkAgain, 5, long).Rows, rows[0].Key)
	lost, err = s.Extend(t.Context(), nil, long)
	noError(t, err)
	equal(t, "lost leases of none", len(lost), 0)
}

func extendReturnsWhatIsLost(t *testing.T, s payments.Store) {
	for _, key := range []string{"held", "released", "postponed", "other-epoch", "other-owner", "never-claimed"} {
		insert(t, s, newRow(key, payments.WorkAgain))
	}
	claimed := leases{"unknown": {Owner: "me", Epoch: 1}, "never-claimed": {Owner: "me", Epoch: 1}}
	for _, key := range []moneymovement.Key{"held", "released", "postponed", "other-epoch", "other-owner"} {
		row := claimKey(t, s, "me", key, long)
		claimed[key] = row.Lease
		switch key {
		case "released":
			save(t, s, row, true)
		case "postponed":
			noError(t, s.Postpone(t.Context(), row))
		case "other-epoch":
			claimed[key] = payments.Lease{Owner: "me", Epoch: row.Lease.Epoch + 1}
		case "other-owner":
			claimed[key] = payments.Lease{Owner: "you", Epoch: row.Lease.Epoch}
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
	insert(t, s, newRow("a", payments.WorkBegin))
	row := claimKey(t, s, "me", "a", long)
	row.State, row.Work, row.Due, row.Data = payments.Paying, payments.WorkAgain, past(2), []byte(`{"step":1}`)
	first := save(t, s, row, false)
	sameRow(t, load(t, s, "a"), row)
	equal(t, "position", load(t, s, "a").Position, first)
	equalKeys(t, "a row that was saved without release", claim(t, s, "x", payments.WorkAgain, 5, long).Rows)
	row.State, row.Work, row.Due, row.Data = payments.Paid, payments.WorkFollow, past(3), []byte(`{"step":2}`)
	second := save(t, s, row, true)
	sameRow(t, load(t, s, "a"), row)
	equal(t, "position", load(t, s, "a").Position, second)
	_, err := s.Save(t.Context(), row, true)
	leaseLost(t, err, row)
	leaseLost(t, s.Postpone(t.Context(), row), row)
	equalKeys(t, "the class that was left", claim(t, s, "x", payments.WorkAgain, 5, long).Rows)
	next := claim(t, s, "x", payments.WorkFollow, 5, long).Rows
	equalKeys(t, "a row that was released", next, "a")
	sameRow(t, next[0], row)
	equal(t, "position of a claimed row", next[0].Position, second)

	next[0].State, next[0].Work, next[0].Due = payments.Completed, payments.WorkNone, time.Time{}
	save(t, s, next[0], true)
	sameRow(t, load(t, s, "a"), next[0])

	missing := newRow("missing", payments.WorkBegin)
	missing.Lease = payments.Lease{Owner: "me", Epoch: 1}
	_, err = s.Save(t.Context(), missing, true)
	leaseLost(t, err, missing)
	leaseLost(t, s.Postpone(t.Context(), missing), missing)
	_, err = s.Save(t.Context(), load(t, s, "a"), true) // a row that was not claimed
	fails[*payments.LeaseLost](t, err)
}

// A claim returns what the save before it wrote, and never an older row.
func saveAndClaimMeet(t *testing.T, s payments.Store) {
	const rows, workers, saves = 3, 6, 20
	for i := range rows {
		row := newRow(fmt.Sprint("k", i), payments.WorkAgain)
		row.Data = []byte("0")
		insert(t, s, row)
	}
	var group sync.WaitGroup
	for worker := range workers {
		group.Go(func() {
			for done := 0; done < saves; {
				claim := payments.Claim{
					Owner: fmt.Sprint(worker), Work: payments.WorkAgain, Limit: 1, Now: time.Now(), For: long,
				}
				if worker%2 == 0 {
					claim.Key = moneymovement.Key(fmt.Sprint("k", done%rows))
				}
				claimed, err := s.Claim(t.Context(), claim)
				var busy *payments.Busy
				if err != nil && !errors.As(err, &busy) {
					t.Error(err)
					return
				}
				if len(claimed.Rows) == 0 {
					wait(time.Millisecond)
					continue
				}
				row, n := claimed.Rows[0], 0
				if _, err := fmt.Sscan(string(row.Data), &n); err != nil {
					t.Errorf("data %q: %v", row.Data, err)
					return
				}
				row.Data = fmt.Append(nil, n+1)
				if _, err := s.Save(t.Context(), row, true); err != nil {
					t.Error(err)
					return
				}
				done++
			}
		})
	}
	group.Wait()
	total := 0
	for i := range rows {
		n := 0
		if _, err := fmt.Sscan(string(load(t, s, moneymovement.Key(fmt.Sprint("k", i))).Data), &n); err != nil {
			t.Fatal(err)
		}
		total += n
	}
	equal(t, "saves", total, workers*saves)
}

func postponeChangesOnlyTheDueTime(t *testing.T, s payments.Store) {
	row := newRow("a", payments.WorkAgain)
	insert(t, s, row)
	position := load(t, s, "a").Position
	for _, due := range []time.Time{future(7), past(4)} {
		claimed := claimKey(t, s, "me", "a", long)
		claimed.State, claimed.Work, claimed.Due = payments.Completed, payments.WorkFollow, due
		claimed.Data, claimed.Account = []byte(`{"not":"kept"}`), "cl_9"
		noError(t, s.Postpone(t.Context(), claimed))
		leaseLost(t, s.Postpone(t.Context(), claimed), claimed)
		row.Due = due
		sameRow(t, load(t, s, "a"), row)
		equal(t, "position", load(t, s, "a").Position, position)
		equalKeys(t, "changes", changes(t, s, position, 5))
		next := claim(t, s, "me", payments.WorkAgain, 5, long)
		if due.After(time.Now()) {
			equalKeys(t, "a postponed row", next.Rows)
			if !next.Next.Equal(due) {
				t.Fatalf("next is %v, want %v", next.Next, due)
			}
			continue
		}
		equalKeys(t, "a row that is due again", next.Rows, "a")
		sameRow(t, next.Rows[0], row)
	}
}
