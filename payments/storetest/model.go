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
		t: t, store: store, virtual: s.virtual, rows: map[moneymovement.Key]*modelRow{},
		random: rand.New(rand.NewPCG(s.seed, 0)), //gosec:disable G404 -- a test that can be repeated
	}
	operations := []func(){
		m.insert, m.insert, m.load, m.list, m.changes, m.claim, m.claim, m.claim, m.claimKey, m.extend, m.save, m.save,
		m.save, m.postpone, m.summary, m.timeGoesOn,
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
	rows    map[moneymovement.Key]*modelRow
	order   []moneymovement.Key // of the last changes
	given   []payments.Row      // claimed rows, of which some have lost their leases
}

type modelRow struct {
	payments.Row
	inserted int // the order of inserts
	claimed  bool
	lease    payments.Lease // the last one, also after its release
	until    time.Time
}

func (r *modelRow) held() bool { return r.claimed && time.Now().Before(r.until) }

func (r *modelRow) holds(lease payments.Lease) bool { return r != nil && r.claimed && r.lease == lease }

func (m *model) key() moneymovement.Key {
	return moneymovement.Key(fmt.Sprintf("k%02d", m.random.IntN(80)))
}

func (m *model) account() dapi.ClientID { return []dapi.ClientID{"", "a", "b", "c"}[m.random.IntN(4)] }

// fill changes what a row says at random.
func (m *model) fill(row *payments.Row) {
	row.State = payments.States()[m.random.IntN(len(payments.States()))]
	row.Work = payments.Work(m.random.IntN(4))
	row.Due = m.due()
	if row.Work == payments.WorkNone {
		row.Due = time.Time{}
	}
	row.Data = fmt.Appendf(nil, `{"n":%d}`, m.random.Int64())
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

func (m *model) changed(row *modelRow, position payments.Position) {
	m.order = slices.DeleteFunc(m.order, func(key moneymovement.Key) bool { return key == row.Key })
	m.order = append(m.order, row.Key)
	row.Position = position
}

func (m *model) insert() {
	row := payments.Row{Key: m.key(), Account: m.account()}
	m.fill(&row)
	stored, inserted, err := m.store.Insert(m.t.Context(), row)
	noError(m.t, err)
	known := m.rows[row.Key]
	equal(m.t, "inserted", inserted, known == nil)
	if known == nil {
		known = &modelRow{Row: row, inserted: len(m.rows)}
		m.rows[row.Key] = known
		m.changed(known, stored.Position)
	}
	m.same(stored, known)
}

func (m *model) same(got payments.Row, want *modelRow) {
	m.t.Helper()
	sameRow(m.t, got, want.Row)
	equal(m.t, "position of "+string(got.Key), got.Position, want.Position)
}

func (m *model) load() {
	key := m.key()
	row, err := m.store.Load(m.t.Context(), key)
	if m.rows[key] == nil {
		fails[*payments.NotFound](m.t, err)
		return
	}
	noError(m.t, err)
	m.same(row, m.rows[key])
}

func (m *model) list() {
	by := payments.List{Account: m.account(), ByAccount: m.random.IntN(2) == 0, Limit: 1 + m.random.IntN(20)}
	if m.random.IntN(2) == 0 {
		by.After = m.key()
	}
	for range m.random.IntN(3) {
		by.States = append(by.States, payments.States()[m.random.IntN(len(payments.States()))])
	}
	rows, err := m.store.List(m.t.Context(), by)
	noError(m.t, err)
	var want []moneymovement.Key
	for _, key := range slices.Sorted(maps.Keys(m.rows)) {
		row := m.rows[key]
		if key > by.After && (len(by.States) == 0 || slices.Contains(by.States, row.State)) &&
			(!by.ByAccount || by.Account == row.Account) && len(want) < by.Limit {
			want = append(want, key)
		}
	}
	equalKeys(m.t, fmt.Sprintf("list %+v", by), rows, want...)
	for _, row := range rows {
		m.same(row, m.rows[row.Key])
	}
}

func (m *model) changes() {
	from := m.random.IntN(len(m.order) + 1)
	position, limit := payments.Position(""), 1+m.random.IntN(30)
	if from > 0 {
		position = m.rows[m.order[from-1]].Position
	}
	rows, err := m.store.Changes(m.t.Context(), position, limit)
	noError(m.t, err)
	equalKeys(m.t, "changes", rows, m.order[from:min(from+limit, len(m.order))]...)
	for _, row := range rows {
		m.same(row, m.rows[row.Key])
	}
}

// free returns the rows of a class that no lease holds.
func (m *model) free(work payments.Work) (rows []*modelRow) {
	for _, key := range slices.Sorted(maps.Keys(m.rows)) {
		if row := m.rows[key]; row.Work == work && !row.held() {
			rows = append(rows, row)
		}
	}
	return rows
}

func (m *model) claim() {
	work, limit, lasts := payments.Work(1+m.random.IntN(3)), m.random.IntN(6), m.lasts()
	claimed := claim(m.t, m.store, m.owner(), work, limit, lasts)
	var due []*modelRow
	for _, row := range m.free(work) {
		if !row.Due.After(time.Now()) {
			due = append(due, row)
		}
	}
	equal(m.t, "number of claimed rows", len(claimed.Rows), min(limit, len(due)))
	taken := map[moneymovement.Key]bool{}
	for _, row := range claimed.Rows {
		known := m.rows[row.Key]
		if !slices.Contains(due, known) || taken[row.Key] {
			m.t.Fatalf("%q was claimed, and is not free and due", row.Key)
		}
		for _, waits := range due {
			if taken[waits.Key] || waits == known {
				continue
			}
			if work == payments.WorkBegin && waits.Account == known.Account && waits.inserted < known.inserted ||
				work != payments.WorkBegin && waits.Due.Before(known.Due) {
				m.t.Fatalf("%q was claimed before %q", row.Key, waits.Key)
			}
		}
		taken[row.Key] = true
	}
	for _, row := range claimed.Rows {
		m.took(row, lasts)
	}
	var next time.Time
	for _, row := range m.free(work) {
		if next.IsZero() || row.Due.Before(next) {
			next = row.Due
		}
	}
	if !claimed.Next.Equal(next) {
		m.t.Fatalf("next of class %d is %v, want %v", work, claimed.Next, next)
	}
}

func (m *model) owner() string { return fmt.Sprint("owner-", m.random.IntN(2)) }

// took checks a claimed row.
func (m *model) took(row payments.Row, lasts time.Duration) {
	m.t.Helper()
	known := m.rows[row.Key]
	m.same(row, known)
	if row.Lease.Epoch <= known.lease.Epoch {
		m.t.Fatalf("the epoch of %q went from %d to %d", row.Key, known.lease.Epoch, row.Lease.Epoch)
	}
	known.claimed, known.lease, known.until = true, row.Lease, time.Now().Add(lasts)
	m.given = append(m.given, row)
}

func (m *model) claimKey() {
	lasts, key := m.lasts(), m.key()
	claimed, err := m.store.Claim(m.t.Context(), payments.Claim{
		Owner: m.owner(), Key: key, Now: time.Now(), For: lasts,
	})
	switch known := m.rows[key]; {
	case known == nil:
		fails[*payments.NotFound](m.t, err)
	case known.held():
		fails[*payments.Busy](m.t, err)
	default:
		noError(m.t, err)
		m.took(claimed.Rows[0], lasts)
	}
}

// old returns a row that was claimed at some time.
func (m *model) old() (row payments.Row, known *modelRow, ok bool) {
	if len(m.given) == 0 {
		return payments.Row{}, nil, false
	}
	i := m.random.IntN(len(m.given))
	if row = m.given[i]; m.random.IntN(2) == 0 {
		m.given = slices.Delete(m.given, i, i+1)
	}
	return row, m.rows[row.Key], true
}

func (m *model) extend() {
	leases, lasts := leases{}, m.lasts()
	var lost []moneymovement.Key
	for range m.random.IntN(4) {
		if row, _, ok := m.old(); ok {
			leases[row.Key] = row.Lease
		}
	}
	for _, key := range slices.Sorted(maps.Keys(leases)) {
		if known := m.rows[key]; known.holds(leases[key]) {
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
	row, known, ok := m.old()
	if !ok {
		return
	}
	m.fill(&row)
	release := m.random.IntN(2) == 0
	position, err := m.store.Save(m.t.Context(), row, release)
	if !known.holds(row.Lease) {
		leaseLost(m.t, err, row)
		return
	}
	noError(m.t, err)
	known.State, known.Work, known.Due, known.Data = row.State, row.Work, row.Due, row.Data
	known.claimed = !release
	m.changed(known, position)
	if !release {
		m.given = append(m.given, row)
	}
}

func (m *model) postpone() {
	row, known, ok := m.old()
	if !ok || known.Work == payments.WorkNone { // which has no due time
		return
	}
	row.Due = m.due()
	err := m.store.Postpone(m.t.Context(), row)
	if !known.holds(row.Lease) {
		leaseLost(m.t, err, row)
		return
	}
	noError(m.t, err)
	known.Due, known.claimed = row.Due, false
}

func (m *model) summary() {
	summary, err := m.store.Summary(m.t.Context())
	noError(m.t, err)
	want := payments.Summary{ByState: map[payments.State]int{}}
	for _, row := range m.rows {
		want.ByState[row.State]++
		if row.Work != payments.WorkNone && (want.OldestDue.IsZero() || row.Due.Before(want.OldestDue)) {
			want.OldestDue = row.Due
		}
	}
	equal(m.t, "counts", fmt.Sprint(summary.ByState), fmt.Sprint(want.ByState))
	if !summary.OldestDue.Equal(want.OldestDue) {
		m.t.Fatalf("oldest due: got %v, want %v", summary.OldestDue, want.OldestDue)
	}
}

// everything compares all rows at the end.
func (m *model) everything() {
	for key, known := range m.rows {
		row, err := m.store.Load(m.t.Context(), key)
		if err != nil {
			m.t.Fatal(errors.Join(err, fmt.Errorf("of key %q", key)))
		}
		m.same(row, known)
	}
	m.summary()
	rows, err := m.store.Changes(m.t.Context(), "", len(m.order)+1)
	noError(m.t, err)
	equalKeys(m.t, "all changes", rows, m.order...)
}
