package storetest

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/payments"
)

// model compares a store with a simple model, over random operations from a seed.
func (s *suite) model(t *testing.T, store payments.Store) {
	m := &model{
		t: t, store: store, virtual: s.virtual, records: map[moneymovement.Key]*modelRecord{},
		random: rand.New(rand.NewPCG(s.seed, 0)), //gosec:disable G404 -- a test that can be repeated
	}
	operations := []func(){
		m.insert, m.insert, m.load, m.list, m.changes, m.claim, m.claim, m.claim, m.claimKey, m.extend, m.save, m.save,
		m.save, m.postpone, m.summary, m.timeGoesOn, m.insertCounted, m.saveCounted,
	}
	for range s.operations {
		operations[m.random.IntN(len(operations))]()
		if t.Failed() {
			return
		}
	}
	m.everything()
}

type model struct {
	t       *testing.T
	store   payments.Store
	virtual bool
	random  *rand.Rand
	records map[moneymovement.Key]*modelRecord
	order   []moneymovement.Key // of the last changes
	given   []payments.Claimed  // claimed records, of which some have lost their leases
}

type modelRecord struct {
	payments.Record
	inserted int // the order of inserts
	claimed  bool
	lease    payments.Lease // the last one, also after its release
	until    time.Time
}

func (r *modelRecord) held() bool { return r.claimed && time.Now().Before(r.until) }

func (r *modelRecord) holds(lease payments.Lease) bool {
	return r != nil && r.claimed && r.lease == lease
}

func (m *model) key() moneymovement.Key {
	return moneymovement.Key(fmt.Sprintf("k%02d", m.random.IntN(80)))
}

func (m *model) account() dapi.ClientID { return []dapi.ClientID{"", "a", "b", "c"}[m.random.IntN(4)] }

func (m *model) state() moneymovement.PaymentState {
	states := moneymovement.StoredPaymentStates()
	return states[m.random.IntN(len(states))]
}

// fill changes what a record says at random.
func (m *model) fill(record *payments.Record) {
	record.Due, record.Trace = m.due(), fmt.Sprint(m.random.Int64())
	waitFor(record, payments.Work(m.random.IntN(4)))
	work := record.Work()
	for {
		if record.State = m.state(); record.Work() == work {
			return
		}
	}
}

// due returns a time that is surely past, or surely not.
func (m *model) due() time.Time {
	due := past(1 + m.random.IntN(100)).Add(time.Duration(m.random.IntN(3)) * time.Microsecond)
	if m.random.IntN(4) == 0 {
		due = future(m.random.IntN(100))
	}
	return due
}

func (m *model) lasts() time.Duration {
	if m.virtual {
		return time.Duration(1+m.random.IntN(120)) * time.Second
	}
	return long
}

func (m *model) timeGoesOn() {
	if m.virtual {
		wait(time.Duration(m.random.IntN(60)) * time.Second)
	}
}

func (m *model) changed(record *modelRecord, position payments.Position) {
	m.order = slices.DeleteFunc(m.order, func(key moneymovement.Key) bool { return key == record.Key })
	m.order = append(m.order, record.Key)
	record.Position = position
}

func (m *model) insert() {
	record := newRecord(string(m.key()), payments.WorkBegin)
	record.Account = m.account()
	m.fill(&record)
	stored, inserted, err := m.store.Insert(m.t.Context(), record)
	noError(m.t, err)
	known := m.records[record.Key]
	equal(m.t, "inserted", inserted, known == nil)
	if known == nil {
		known = &modelRecord{Record: record, inserted: len(m.records)}
		m.records[record.Key] = known
		m.changed(known, stored.Position)
	}
	m.same(stored, known)
}

func (m *model) same(got payments.Record, want *modelRecord) {
	m.t.Helper()
	sameRecord(m.t, got, want.Record)
	equal(m.t, "position of "+string(got.Key), got.Position, want.Position)
}

func (m *model) load() {
	key := m.key()
	record, err := m.store.Load(m.t.Context(), key)
	if m.records[key] == nil {
		fails[*payments.NotFound](m.t, err)
		return
	}
	noError(m.t, err)
	m.same(record, m.records[key])
}

func (m *model) list() {
	by := payments.List{Account: m.account(), ByAccount: m.random.IntN(2) == 0, Limit: 1 + m.random.IntN(20)}
	if m.random.IntN(2) == 0 {
		by.After = m.key()
	}
	for range m.random.IntN(3) {
		by.States = append(by.States, m.state())
	}
	records, err := m.store.List(m.t.Context(), by)
	noError(m.t, err)
	var want []moneymovement.Key
	for _, key := range slices.Sorted(maps.Keys(m.records)) {
		record := m.records[key]
		if key > by.After && (len(by.States) == 0 || slices.Contains(by.States, record.State)) &&
			(!by.ByAccount || by.Account == record.Account) && len(want) < by.Limit {
			want = append(want, key)
		}
	}
	equalKeys(m.t, fmt.Sprintf("list %+v", by), records, want...)
	for _, record := range records {
		m.same(record, m.records[record.Key])
	}
}

func (m *model) changes() {
	from := m.random.IntN(len(m.order) + 1)
	position, limit := payments.Position(""), 1+m.random.IntN(30)
	if from > 0 {
		position = m.records[m.order[from-1]].Position
	}
	records, err := m.store.Changes(m.t.Context(), position, limit)
	noError(m.t, err)
	equalKeys(m.t, "changes", records, m.order[from:min(from+limit, len(m.order))]...)
	for _, record := range records {
		m.same(record, m.records[record.Key])
	}
}

// free returns the records of a class that no lease holds.
func (m *model) free(work payments.Work) (records []*modelRecord) {
	for _, key := range slices.Sorted(maps.Keys(m.records)) {
		if record := m.records[key]; record.Work() == work && !record.held() {
			records = append(records, record)
		}
	}
	return records
}

func (m *model) claim() {
	work, limit, lasts := payments.Work(1+m.random.IntN(3)), m.random.IntN(6), m.lasts()
	claimed, gotNext := claimAndNext(m.t, m.store, m.owner(), work, limit, lasts)
	var due []*modelRecord
	for _, record := range m.free(work) {
		if !record.Due.After(time.Now()) {
			due = append(due, record)
		}
	}
	equal(m.t, "number of claimed records", len(claimed), min(limit, len(due)))
	taken := map[moneymovement.Key]bool{}
	for _, record := range claimed {
		known := m.records[record.Key]
		if !slices.Contains(due, known) || taken[record.Key] {
			m.t.Fatalf("%q was claimed, and is not free and due", record.Key)
		}
		for _, waits := range due {
			if taken[waits.Key] || waits == known {
				continue
			}
			if work == payments.WorkBegin && waits.Account == known.Account && waits.inserted < known.inserted ||
				work != payments.WorkBegin && waits.Due.Before(known.Due) {
				m.t.Fatalf("%q was claimed before %q", record.Key, waits.Key)
			}
		}
		taken[record.Key] = true
	}
	for _, record := range claimed {
		m.took(record, lasts)
	}
	var next time.Time
	for _, record := range m.free(work) {
		if next.IsZero() || record.Due.Before(next) {
			next = record.Due
		}
	}
	if !gotNext.Equal(next) {
		m.t.Fatalf("next of class %d is %v, want %v", work, gotNext, next)
	}
}

func (m *model) owner() string { return fmt.Sprint("owner-", m.random.IntN(2)) }

// took checks a claimed record.
func (m *model) took(record payments.Claimed, lasts time.Duration) {
	m.t.Helper()
	known := m.records[record.Key]
	m.same(record.Record, known)
	if record.Lease.Epoch <= known.lease.Epoch {
		m.t.Fatalf("the epoch of %q went from %d to %d", record.Key, known.lease.Epoch, record.Lease.Epoch)
	}
	known.claimed, known.lease, known.until = true, record.Lease, time.Now().Add(lasts)
	m.given = append(m.given, record)
}

func (m *model) claimKey() {
	lasts, key := m.lasts(), m.key()
	claimed, _, err := m.store.Claim(m.t.Context(), payments.Claim{
		Owner: m.owner(), Key: key, Now: time.Now(), For: lasts,
	})
	switch known := m.records[key]; {
	case known == nil:
		fails[*payments.NotFound](m.t, err)
	case known.held():
		fails[*payments.CallInProgress](m.t, err)
	default:
		noError(m.t, err)
		m.took(claimed[0], lasts)
	}
}

// old returns a record that was claimed at some time.
func (m *model) old() (record payments.Claimed, known *modelRecord, ok bool) {
	if len(m.given) == 0 {
		return payments.Claimed{}, nil, false
	}
	i := m.random.IntN(len(m.given))
	if record = m.given[i]; m.random.IntN(2) == 0 {
		m.given = slices.Delete(m.given, i, i+1)
	}
	return record, m.records[record.Key], true
}

func (m *model) extend() {
	leases, lasts := leases{}, m.lasts()
	var lost []moneymovement.Key
	for range m.random.IntN(4) {
		if record, _, ok := m.old(); ok {
			leases[record.Key] = record.Lease
		}
	}
	for _, key := range slices.Sorted(maps.Keys(leases)) {
		if known := m.records[key]; known.holds(leases[key]) {
			known.until = time.Now().Add(lasts)
		} else {
			lost = append(lost, key)
		}
	}
	got, err := m.store.Extend(m.t.Context(), leases, lasts)
	noError(m.t, err)
	slices.Sort(got)
	equal(m.t, "lost leases", fmt.Sprint(got), fmt.Sprint(lost))
}

func (m *model) save() {
	record, known, ok := m.old()
	if !ok {
		return
	}
	m.fill(&record.Record)
	record.Spending = known.Spending // which only a Count changes
	release := m.random.IntN(2) == 0
	position, err := m.store.Save(m.t.Context(), record, release)
	if !known.holds(record.Lease) {
		leaseLost(m.t, err, record)
		return
	}
	noError(m.t, err)
	known.Record = record.Record
	known.claimed = !release
	m.changed(known, position)
	if !release {
		m.given = append(m.given, record)
	}
}

func (m *model) postpone() {
	record, known, ok := m.old()
	if !ok || known.Work() == payments.WorkNone { // which has no due time
		return
	}
	record.Due = m.due()
	err := m.store.Postpone(m.t.Context(), record)
	if !known.holds(record.Lease) {
		leaseLost(m.t, err, record)
		return
	}
	noError(m.t, err)
	known.Due, known.claimed = record.Due, false
}

func (m *model) summary() {
	summary, err := m.store.Summary(m.t.Context())
	noError(m.t, err)
	want := payments.Summary{ByState: map[moneymovement.PaymentState]int{}}
	for _, record := range m.records {
		want.ByState[record.State]++
		if record.Work() != payments.WorkNone && (want.OldestDue.IsZero() || record.Due.Before(want.OldestDue)) {
			want.OldestDue = record.Due
		}
	}
	equal(m.t, "counts", fmt.Sprint(summary.ByState), fmt.Sprint(want.ByState))
	if !summary.OldestDue.Equal(want.OldestDue) {
		m.t.Fatalf("oldest due: got %v, want %v", summary.OldestDue, want.OldestDue)
	}
}

// everything compares all records at the end.
func (m *model) everything() {
	for key, known := range m.records {
		record, err := m.store.Load(m.t.Context(), key)
		if err != nil {
			m.t.Fatal(errors.Join(err, fmt.Errorf("of key %q", key)))
		}
		m.same(record, known)
	}
	m.summary()
	records, err := m.store.Changes(m.t.Context(), "", len(m.order)+1)
	noError(m.t, err)
	equalKeys(m.t, "all changes", records, m.order...)
}
