// Package storetest tests a payments.Store. Whoever writes a store runs it in a test:
//
//	func TestStore(t *testing.T) {
//		storetest.Run(t, func(t *testing.T) payments.Store { return open(t) })
//	}
//
// It holds the store to each sentence of the contract, also under concurrent use, and compares it with a simple model
// over thousands of operations.
package storetest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/payments"
)

// Option changes how [Run] tests.
type Option func(*suite)

// VirtualTime runs each test in a bubble of testing/synctest, so that leases end without waiting. It is for stores
// whose clock is the clock of the process. What open starts must end with the cleanups of its test.
func VirtualTime() Option { return func(s *suite) { s.virtual = true } }

// Seed chooses the operations of the model test. Without it, they are the same in each run.
func Seed(seed uint64) Option { return func(s *suite) { s.seed = seed } }

// Operations is how many operations the model test makes. The default is 3,000.
func Operations(n int) Option { return func(s *suite) { s.operations = n } }

// Run tests a store. open returns an empty store, and closes it with t.Cleanup. It is called once in each test.
func Run(t *testing.T, open func(t *testing.T) payments.Store, options ...Option) {
	t.Helper()
	s := &suite{seed: 1, operations: 3000}
	for _, option := range options {
		option(s)
	}
	for _, test := range s.tests() {
		t.Run(test.name, func(t *testing.T) {
			if s.virtual {
				synctest.Test(t, func(t *testing.T) { test.run(t, open(t)) })
				return
			}
			test.run(t, open(t))
		})
	}
}

type suite struct {
	virtual    bool
	seed       uint64
	operations int
}

type test struct {
	name string
	run  func(*testing.T, payments.Store)
}

func (s *suite) tests() []test {
	return []test{
		{"InsertHappensOnce", insertHappensOnce},
		{"ConcurrentInsertsOfAKeyStoreOneRow", concurrentInserts},
		{"LoadOfAnUnknownKey", loadOfAnUnknownKey},
		{"OddKeys", oddKeys},
		{"LargeAndOddText", largeAndOddText},
		{"MemoryIsNotShared", memoryIsNotShared},
		{"UnreadableRecordsAreLeftAlone", unreadableRecords},
		{"RecordsOfANewerProgramAreLeftAlone", newerRecords},
		{"MembersOfALaterVersionAreKept", laterMembers},
		{"TimesInAnyZone", timesInAnyZone},
		{"ListInTheOrderOfKeys", listInTheOrderOfKeys},
		{"ListOfStatesAndAccounts", listOfStatesAndAccounts},
		{"ChangesInTheirOrder", changesInTheirOrder},
		{"ChangesUnderConcurrentWriters", changesUnderConcurrentWriters},
		{"BadPosition", badPosition},
		{"ClaimTakesTurnsBetweenAccounts", claimTakesTurns},
		{"ClaimInTheOrderOfDue", claimInTheOrderOfDue},
		{"ClaimSaysWhatIsNext", claimSaysWhatIsNext},
		{"ClaimOfAKey", claimOfAKey},
		{"ConcurrentClaims", concurrentClaims},
		{"EndedLeaseIsReplaced", endedLeaseIsReplaced},
		{"EndedLeaseThatNobodyReplaced", endedLeaseThatNobodyReplaced},
		{"EpochsRise", epochsRise},
		{"ExtendKeepsALease", extendKeepsALease},
		{"ExtendReturnsWhatIsLost", extendReturnsWhatIsLost},
		{"SaveKeepsOrReleases", saveKeepsOrReleases},
		{"SaveAndClaimMeet", saveAndClaimMeet},
		{"EachReadHasThePositionOfTheLastChange", positionOfTheLastChange},
		{"PostponeChangesOnlyTheDueTime", postponeChangesOnlyTheDueTime},
		{"SummaryCounts", summaryCounts},
		{"CapsHold", capsHold},
		{"CapsOfARestoredStore", capsOfARestoredStore},
		{"CapsOfASave", capsOfASave},
		{"CountsFollowTheRecord", countsFollowTheRecord},
		{"CapsHoldUnderConcurrentWriters", capsHoldUnderConcurrentWriters},
		{"MarkRestored", restoredStore},
		{"InsertsMeetARestore", insertsMeetARestore},
		{"ClaimsMeetARestore", claimsMeetARestore},
		{"CanceledContextChangesNothing", canceledContext},
		{"Model", s.model},
	}
}

// The times of the tests. A store may use its own clock to tell what is due, so that nothing is due within minutes from
// now, except where a test waits for it.
const (
	long  = time.Hour              // a lease that does not end within a test
	brief = 200 * time.Millisecond // a lease that a test waits for
	ended = 2 * brief              // after which it has ended
)

// wait returns after a time of the test's clock.
func wait(d time.Duration) { <-time.After(d) }

// newRecord returns a record that is due.
func newRecord(key string, work payments.Work) payments.Record {
	record := payments.Record{
		Key: moneymovement.Key(key), Kind: payments.KindTransfer, Account: "cl_1", Due: past(1), AcceptedAt: birth,
		Transfer: &payments.Transfer{QuoteID: "q_" + key}, Metadata: map[string]string{"key": key},
	}
	waitFor(&record, work)
	return record
}

// birth is when the payments of the tests were accepted.
var birth = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// waitFor gives a record a state in which it waits for work.
func waitFor(record *payments.Record, work payments.Work) {
	record.State, record.Calls = moneymovement.PaymentAccepted, 0
	switch work {
	case payments.WorkAgain:
		record.Calls = 1
	case payments.WorkFollow:
		record.State = moneymovement.PaymentPaid
	case payments.WorkNone:
		record.State, record.Due = moneymovement.PaymentCompleted, time.Time{}
	case payments.WorkBegin:
	}
}

// past returns a time so many minutes ago, by whole microseconds.
func past(minutes int) time.Time {
	return time.Now().Add(-time.Duration(minutes) * time.Minute).Truncate(time.Microsecond)
}

// future returns a time in so many minutes and an hour.
func future(minutes int) time.Time { return past(-minutes - 60) }

func insert(t *testing.T, s payments.Store, records ...payments.Record) {
	t.Helper()
	for _, record := range records {
		stored, inserted, err := s.Insert(t.Context(), record)
		if err != nil || !inserted {
			t.Fatalf("Insert of %q: %t, %v", record.Key, inserted, err)
		}
		sameRecord(t, stored, record)
	}
}

func load(t *testing.T, s payments.Store, key moneymovement.Key) payments.Record {
	t.Helper()
	record, err := s.Load(t.Context(), key)
	noError(t, err)
	return record
}

// claim claims records of a class for an owner.
func claim(
	t *testing.T, s payments.Store, owner string, work payments.Work, limit int, lasts time.Duration,
) []payments.Claimed {
	t.Helper()
	claimed, _ := claimAndNext(t, s, owner, work, limit, lasts)
	return claimed
}

// claimAndNext is claim, and also returns when the next record is due.
func claimAndNext(
	t *testing.T, s payments.Store, owner string, work payments.Work, limit int, lasts time.Duration,
) ([]payments.Claimed, time.Time) {
	t.Helper()
	claimed, next, err := s.Claim(t.Context(), payments.Claim{
		Owner: owner, Work: work, Limit: limit, Now: time.Now(), For: lasts,
	})
	noError(t, err)
	for _, one := range claimed {
		equal(t, "owner", one.Lease.Owner, owner)
		if one.Err() == nil {
			equal(t, "class of work", one.Work(), work)
		}
	}
	return claimed, next
}

// claimKey claims a record by its key.
func claimKey(
	t *testing.T, s payments.Store, owner string, key moneymovement.Key, lasts time.Duration,
) payments.Claimed {
	t.Helper()
	claimed, _, err := s.Claim(t.Context(), payments.Claim{Owner: owner, Key: key, Now: time.Now(), For: lasts})
	noError(t, err)
	equal(t, "number of records", len(claimed), 1)
	equal(t, "key", claimed[0].Key, key)
	equal(t, "owner", claimed[0].Lease.Owner, owner)
	return claimed[0]
}

func save(t *testing.T, s payments.Store, claimed payments.Claimed, release bool) payments.Position {
	t.Helper()
	position, err := s.Save(t.Context(), claimed, release)
	noError(t, err)
	return position
}

func account(n int) dapi.ClientID { return dapi.ClientID(fmt.Sprintf("cl_%d", n)) }

// The checks of the tests. A library for tests would be a requirement of the SDK.

func noError(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("unexpected error: %v", err)
	}
}

func equal(t *testing.T, what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("%s: got %v, want %v", what, got, want)
	}
}

// failure checks the type of an error, and returns it.
func failure[E error](t *testing.T, err error) (found E) {
	t.Helper()
	if !errors.As(err, &found) {
		t.Fatalf("got the error %v, want one of the type %T", err, found)
	}
	return found
}

// fails checks the type of an error.
func fails[E error](t *testing.T, err error) {
	t.Helper()
	_ = failure[E](t, err)
}

// leaseLost checks that a call failed because of its lease.
func leaseLost(t *testing.T, err error, claimed payments.Claimed) {
	t.Helper()
	lost := failure[*payments.LeaseLost](t, err)
	equal(t, "the key of the lost lease", lost.Key, claimed.Key)
	equal(t, "the lost lease", lost.Lease, claimed.Lease)
}

// sameRecord compares what a store keeps of a record.
func sameRecord(t *testing.T, got, want payments.Record) {
	t.Helper()
	if !got.Due.Equal(want.Due) {
		t.Fatalf("%q: due %v, want %v", got.Key, got.Due, want.Due)
	}
	got, want = again(t, got), again(t, want)
	got.Due, got.Position = want.Due, want.Position
	equal(t, "record", got, want)
}

// again returns a record as it is read again.
func again(t *testing.T, record payments.Record) payments.Record {
	t.Helper()
	if record.Err() != nil {
		return record
	}
	text, err := record.Encode()
	noError(t, err)
	return payments.Decode(record.Key, text)
}

func keysOf(records []payments.Record) []moneymovement.Key {
	keys := make([]moneymovement.Key, len(records))
	for i, record := range records {
		keys[i] = record.Key
	}
	return keys
}

func recordsOf(claimed []payments.Claimed) []payments.Record {
	records := make([]payments.Record, len(claimed))
	for i, one := range claimed {
		records[i] = one.Record
	}
	return records
}

// isCanceled reports the error of a context that was canceled.
func isCanceled(err error) bool { return errors.Is(err, context.Canceled) }

func equalKeys(t *testing.T, what string, records []payments.Record, want ...moneymovement.Key) {
	t.Helper()
	if got := keysOf(records); !slices.Equal(got, want) {
		t.Fatalf("%s: got %q, want %q", what, got, want)
	}
}

func equalClaims(t *testing.T, what string, claimed []payments.Claimed, want ...moneymovement.Key) {
	t.Helper()
	equalKeys(t, what, recordsOf(claimed), want...)
}
