package storetest

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/payments"
)

// The tests of what payments count against caps.

// noon is in the middle of a day in UTC.
var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// spends makes a record count an amount against caps of its day.
func spends(record *payments.Record, amount string, payee string, at time.Time, most ...payments.Cap) {
	record.Spending = &payments.Spending{Asset: "USDC", Amount: decimal.RequireFromString(amount), Payee: payee, At: at}
	record.Count = &payments.Count{Caps: most}
}

// dayCap is a cap on the day of noon, of all payees if payee is empty.
func dayCap(most, payee string) payments.Cap {
	from := noon.Truncate(24 * time.Hour)
	return payments.Cap{Asset: "USDC", Payee: payee, From: from, Until: from.AddDate(0, 0, 1),
		Most: decimal.RequireFromString(most)}
}

func capsHold(t *testing.T, s payments.Store) {
	for _, one := range []struct {
		key, amount, payee string
		at                 time.Time
		most               payments.Cap
		refused            bool
	}{
		{"a", "60.000001", "ct", noon, dayCap("100", ""), false},
		{"b", "40", "ct", noon.Add(time.Hour), dayCap("100", ""), true},
		{"c", "39.999999", "other", noon.Add(2 * time.Hour), dayCap("100", ""), false},
		{"d", "0.000001", "other", noon, dayCap("100", ""), true},
		{"e", "1", "other", noon.AddDate(0, 0, -1), dayCap("100", ""), true}, // even if it counts on another day
		{"f", "10", "third", noon, dayCap("10", "third"), false},             // of which nothing counts so far
		{"g", "0.1", "third", noon, dayCap("10", "third"), true},
	} {
		record := newRecord(one.key, payments.WorkBegin)
		spends(&record, one.amount, one.payee, one.at, one.most)
		if one.key == "e" { // the cap is that of noon, and is full
			record.Count.Caps[0].Most = decimal.RequireFromString("99")
		}
		stored, inserted, err := s.Insert(t.Context(), record)
		noError(t, err)
		equal(t, one.key+" inserted", inserted, true)
		refused := stored.State == moneymovement.PaymentNeedsDecision && stored.Reason != nil &&
			stored.Reason.Code == payments.ReasonPolicy && stored.Spending == nil
		equal(t, one.key+" refused", refused, one.refused)
		equal(t, one.key+" has work", stored.Work() != payments.WorkNone, !one.refused)
		sameRecord(t, load(t, s, moneymovement.Key(one.key)), stored)
	}
	// The key of a stored record changes nothing, also if a cap is full.
	again := newRecord("a", payments.WorkBegin)
	spends(&again, "1", "ct", noon, dayCap("100", ""))
	stored, inserted, err := s.Insert(t.Context(), again)
	noError(t, err)
	equal(t, "inserted again", inserted, false)
	equal(t, "amount", stored.Spending.Amount.String(), "60.000001")
	equal(t, "room", room(t, s, "100"), "-10")
}

// room returns how much is left within a cap for all payees, as the largest payment shows that could be stored.
func room(t *testing.T, s payments.Store, most string) string {
	t.Helper()
	probe := newRecord("probe", payments.WorkBegin)
	spends(&probe, "1000000000", "nobody", noon, dayCap(most, ""))
	stored, _, err := s.Insert(t.Context(), probe)
	noError(t, err)
	equal(t, "the probe is refused", stored.State, moneymovement.PaymentNeedsDecision)
	claimed := claimKey(t, s, "probe", "probe", long)
	spends(&claimed.Record, "1000000000", "nobody", noon, dayCap(most, ""))
	_, err = s.Save(t.Context(), claimed, false)
	reached := failure[*payments.CapReached](t, err)
	save(t, s, payments.Claimed{Record: stored, Lease: claimed.Lease}, true)
	return reached.Cap.Most.Sub(reached.Sum).Add(decimal.New(1, 9)).String()
}

// A restored store does not know whether a new record was paid before. So it counts past the caps, which are asked when
// nobody has found it.
func capsOfARestoredStore(t *testing.T, s payments.Store) {
	noError(t, s.MarkRestored(t.Context(), noon.Add(-time.Hour)))
	record := newRecord("a", payments.WorkBegin)
	spends(&record, "60", "ct", noon, dayCap("50", ""))
	stored, inserted, err := s.Insert(t.Context(), record)
	noError(t, err)
	equal(t, "inserted", inserted, true)
	equal(t, "state", stored.State, moneymovement.PaymentAccepted)
	equal(t, "unchecked", stored.Spending != nil && stored.Spending.Unchecked, true)
	equal(t, "the caller's record", record.Spending.Unchecked, false)
	sameRecord(t, load(t, s, "a"), stored)
	noError(t, s.MarkRestored(t.Context(), time.Time{}))
	equal(t, "room", room(t, s, "50"), "-10")
}

func capsOfASave(t *testing.T, s payments.Store) {
	insert(t, s, newRecord("a", payments.WorkBegin))
	claimed := claimKey(t, s, "me", "a", long)
	before := load(t, s, "a")
	spends(&claimed.Record, "101", "ct", noon, dayCap("100", ""))
	claimed.Calls = 1
	_, err := s.Save(t.Context(), claimed, false)
	reached := failure[*payments.CapReached](t, err)
	equal(t, "key", reached.Key, moneymovement.Key("a"))
	equal(t, "sum", reached.Sum.String(), "101")
	sameRecord(t, load(t, s, "a"), before) // nothing was changed
	equal(t, "room", room(t, s, "100"), "100")

	spends(&claimed.Record, "100", "ct", noon, dayCap("100", ""))
	for range 3 { // a save that is repeated, because its result was lost, counts once
		_, err = s.Save(t.Context(), claimed, false)
		noError(t, err)
	}
	equal(t, "room", room(t, s, "100"), "0")

	claimed.Count = &payments.Count{Caps: []payments.Cap{dayCap("99", "")}} // the cap was lowered
	_, err = s.Save(t.Context(), claimed, false)
	fails[*payments.CapReached](t, err)

	stale := claimed // nobody counts without the lease
	stale.Lease.Epoch--
	spends(&stale.Record, "1", "ct", noon)
	_, err = s.Save(t.Context(), stale, false)
	fails[*payments.LeaseLost](t, err)
	equal(t, "room", room(t, s, "100"), "0")
}

func countsFollowTheRecord(t *testing.T, s payments.Store) {
	record := newRecord("a", payments.WorkBegin)
	spends(&record, "70", "ct", noon)
	insert(t, s, record)
	claimed := claimKey(t, s, "me", "a", long)
	change := func(amount, payee string, at time.Time, left string) {
		t.Helper()
		spends(&claimed.Record, amount, payee, at)
		_, err := s.Save(t.Context(), claimed, false)
		noError(t, err)
		equal(t, "room", room(t, s, "100"), left)
	}
	change("70", "ct", noon, "30")
	change("80", "ct", noon, "20")
	change("80", "other", noon, "20")
	change("80", "other", noon.Add(11*time.Hour+59*time.Minute), "20")
	change("80", "other", noon.Add(12*time.Hour), "100") // the next day
	change("80", "other", noon.Add(-12*time.Hour), "20")
	change("80", "other", noon.Add(-12*time.Hour-time.Second), "100")
	change("12.5", "ct", noon, "87.5")
	claimed.Spending, claimed.Count = nil, new(payments.Count)
	for range 2 {
		_, err := s.Save(t.Context(), claimed, false)
		noError(t, err)
		equal(t, "room", room(t, s, "100"), "100")
	}
	claimed.Count = nil // a save without a count neither reads nor changes it
	claimed.Spending = nil
	save(t, s, claimed, true)
	equal(t, "room", room(t, s, "100"), "100")
}

func capsHoldUnderConcurrentWriters(t *testing.T, s payments.Store) {
	const writers, each = 8, 6
	var group sync.WaitGroup
	var allowed atomic.Int64
	for writer := range writers {
		group.Go(func() {
			for i := range each {
				record := newRecord(fmt.Sprintf("w%d-%d", writer, i), payments.WorkBegin)
				at := noon.Add(time.Duration(writer*each+i) * 10 * time.Minute).Add(-4 * time.Hour)
				if i%2 == 0 {
					spends(&record, "10", fmt.Sprint("payee", writer), at, dayCap("100", ""))
				}
				stored, _, err := s.Insert(t.Context(), record)
				if err != nil {
					t.Error(err)
					return
				}
				if i%2 == 0 && stored.State != moneymovement.PaymentNeedsDecision {
					allowed.Add(1)
				}
				if i%2 == 0 {
					continue
				}
				claimed, _, err := s.Claim(t.Context(), payments.Claim{Owner: fmt.Sprint(writer), Key: record.Key,
					Now: time.Now(), For: long})
				if err != nil {
					t.Error(err)
					return
				}
				spends(&claimed[0].Record, "10", "ct", at, dayCap("100", ""))
				switch _, err := s.Save(t.Context(), claimed[0], true); {
				case err == nil:
					allowed.Add(1)
				case !errors.As(err, new(*payments.CapReached)):
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	equal(t, "payments within the cap", allowed.Load(), int64(10))
	equal(t, "room", room(t, s, "100"), "0")
}

// capsOf draws caps for a spending of the model.
func (m *model) capsOf(s *payments.Spending) (caps []payments.Cap) {
	for _, payee := range []string{"", s.Payee} {
		if m.random.IntN(2) == 0 {
			caps = append(caps, dayCap(fmt.Sprint(m.random.IntN(300)), payee))
		}
	}
	return caps
}

// spend gives a record another spending at random, and returns the caps that it would pass.
func (m *model) spend(record *payments.Record) (passed bool) {
	record.Spending, record.Count = nil, new(payments.Count)
	if m.random.IntN(4) > 0 {
		at := noon.Add(time.Duration(m.random.IntN(60)-30) * time.Hour)
		amount := fmt.Sprintf("%d.%02d", m.random.IntN(40), m.random.IntN(100))
		spends(record, amount, fmt.Sprint("p", m.random.IntN(3)), at)
		record.Count.Caps = m.capsOf(record.Spending)
	}
	for _, limit := range record.Count.Caps {
		sum := decimal.Zero
		for key, known := range m.records {
			if key != record.Key {
				sum = sum.Add(within(known.Spending, limit))
			}
		}
		passed = passed || sum.Add(within(record.Spending, limit)).GreaterThan(limit.Most)
	}
	return passed
}

// within returns what a spending counts within a cap.
func within(s *payments.Spending, of payments.Cap) decimal.Decimal {
	if s == nil || s.Asset != of.Asset || of.Payee != "" && of.Payee != s.Payee || s.At.Before(of.From) ||
		!s.At.Before(of.Until) {
		return decimal.Zero
	}
	return s.Amount
}

func (m *model) insertCounted() {
	record := newRecord(string(m.key()), payments.WorkBegin)
	record.Account = m.account()
	m.fill(&record)
	passed := m.spend(&record)
	stored, inserted, err := m.store.Insert(m.t.Context(), record)
	noError(m.t, err)
	known := m.records[record.Key]
	equal(m.t, "inserted", inserted, known == nil)
	if known != nil {
		m.same(stored, known)
		return
	}
	if passed {
		equal(m.t, "state of a payment that would pass a cap", stored.State, moneymovement.PaymentNeedsDecision)
		equal(m.t, "its reason", stored.Reason.Code, payments.ReasonPolicy)
		record = stored
	}
	record.Count = nil
	m.records[record.Key] = &modelRecord{Record: record, inserted: len(m.records)}
	m.changed(m.records[record.Key], stored.Position)
	m.same(stored, m.records[record.Key])
}

func (m *model) saveCounted() {
	record, known, ok := m.old()
	if !ok {
		return
	}
	m.fill(&record.Record)
	passed := m.spend(&record.Record)
	position, err := m.store.Save(m.t.Context(), record, true)
	switch {
	// Either may be noticed first.
	case !known.holds(record.Lease) && (!passed || !errors.As(err, new(*payments.CapReached))):
		leaseLost(m.t, err, record)
		return
	case passed:
		fails[*payments.CapReached](m.t, err)
		return
	}
	noError(m.t, err)
	record.Count = nil
	known.Record, known.claimed = record.Record, false
	m.changed(known, position)
}
