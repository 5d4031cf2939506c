package payments

import (
	"cmp"
	"container/heap"
	"context"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/shopspring/decimal"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
)

// MemoryStore is a [Store] that keeps everything in memory. It is for tests: nothing survives the end of the process.
// The zero value is an empty store.
type MemoryStore struct {
	mu      sync.Mutex
	rows    map[moneymovement.Key]*memoryRow
	keys    []moneymovement.Key // sorted
	log     []memoryChange      // in the order of the changes; some were replaced by later ones
	changes int64
	turns   map[dapi.ClientID]int64 // the last turn of each account
	turn    int64                   // the turn that was claimed last
	byDue   map[Work]*memoryQueue
	byTurn  memoryQueue // the rows of WorkBegin
	leased  memoryQueue // in the order in which the leases end
	tallies map[tallyKey]decimal.Decimal

	restoredFrom time.Time // zero if the store was not restored
}

// tallyKey names a tally. at is in seconds since 1970.
type tallyKey struct {
	asset, payee string
	at           int64
}

type memoryRow struct {
	key     moneymovement.Key
	account dapi.ClientID
	state   moneymovement.PaymentState
	work    Work
	needs   int // the version of records
	due     time.Time
	text    []byte // of the record
	lease   Lease  // the last one
	turn    int64  // the order among rows of WorkBegin
	change  int64
	leased  bool
	until   time.Time // the end of the lease, by this machine's clock
	version int       // rises when the row leaves a queue: older places in queues do not count
}

type memoryChange struct {
	key    moneymovement.Key
	change int64
}

// NewMemoryStore returns an empty store.
func NewMemoryStore() *MemoryStore { return new(MemoryStore) }

// make makes the maps of an empty store.
func (s *MemoryStore) make() {
	if s.rows == nil {
		s.rows, s.turns = map[moneymovement.Key]*memoryRow{}, map[dapi.ClientID]int64{}
		s.tallies = map[tallyKey]decimal.Decimal{}
		s.byDue = map[Work]*memoryQueue{WorkBegin: {}, WorkAgain: {}, WorkFollow: {}}
	}
}

// Insert implements [Store].
func (s *MemoryStore) Insert(ctx context.Context, record Record) (Record, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.make()
	if known := s.rows[record.Key]; known != nil && ctx.Err() == nil {
		return known.record(), false, nil
	}
	if !s.restoredFrom.IsZero() {
		record, _ = record.Restored(s.restoredFrom)
	}
	changes, err := record.Recount(nil, s.sum)
	if reached, ok := errors.AsType[*CapReached](err); ok {
		record, err = record.OverCap(reached), nil
	}
	text, encoding := record.Encode()
	if err = cmp.Or(ctx.Err(), err, encoding); err != nil {
		return Record{}, false, err
	}
	s.add(changes)
	kept := &memoryRow{key: record.Key, account: record.Account}
	kept.turn = max(s.turns[kept.account]+1, s.turn)
	s.turns[kept.account] = kept.turn
	s.rows[kept.key] = kept
	place, _ := slices.BinarySearch(s.keys, kept.key)
	s.keys = slices.Insert(s.keys, place, kept.key)
	record.Position, record.Count = s.changed(kept, &record, text), nil
	s.enqueue(kept)
	return record, true, nil
}

// sum returns what is counted within a cap.
func (s *MemoryStore) sum(of Cap) (sum decimal.Decimal, err error) {
	for at := of.From; at.Before(of.Until); at = at.Add(quarter) {
		sum = sum.Add(s.tallies[tallyKey{of.Asset, of.Payee, at.Unix()}])
	}
	return sum, nil
}

func (s *MemoryStore) add(changes []Tally) {
	for _, change := range changes {
		key := tallyKey{change.Asset, change.Payee, change.At.Unix()}
		s.tallies[key] = s.tallies[key].Add(change.Amount)
	}
}

// changed keeps what a record says, and gives its row a place in the log. The log is made anew when more than half of
// it was replaced.
func (s *MemoryStore) changed(row *memoryRow, record *Record, text []byte) Position {
	s.changes++
	row.state, row.work, row.due, row.text, row.change = record.State, record.Work(), record.Due, text, s.changes
	row.needs = record.Needs
	s.log = append(s.log, memoryChange{row.key, row.change})
	if len(s.log) > 2*len(s.rows)+16 {
		s.log = slices.DeleteFunc(s.log, func(c memoryChange) bool { return s.rows[c.key].change != c.change })
	}
	return row.position()
}

func (r *memoryRow) position() Position { return Position(strconv.FormatInt(r.change, 10)) }

func (r *memoryRow) record() Record {
	record := Decode(r.key, r.text)
	record.Due, record.Position = r.due, r.position()
	return record
}

// Load implements [Store].
func (s *MemoryStore) Load(ctx context.Context, key moneymovement.Key) (Record, error) {
	if err := ctx.Err(); err != nil {
		return Record{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if known := s.rows[key]; known != nil {
		return known.record(), nil
	}
	return Record{}, &NotFound{Key: key}
}

// List implements [Store].
func (s *MemoryStore) List(ctx context.Context, list List) ([]Record, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []Record
	place, known := slices.BinarySearch(s.keys, list.After)
	if known {
		place++
	}
	for _, key := range s.keys[place:] {
		row := s.rows[key]
		if len(list.States) > 0 && !slices.Contains(list.States, row.state) ||
			list.ByAccount && row.account != list.Account {
			continue
		}
		if found = append(found, row.record()); len(found) == list.Limit {
			break
		}
	}
	return found, nil
}

// Changes implements [Store].
func (s *MemoryStore) Changes(ctx context.Context, after Position, limit int) ([]Record, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var from int64
	if after != "" {
		var err error
		if from, err = strconv.ParseInt(string(after), 10, 64); err != nil {
			return nil, &BadPosition{Position: after}
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	place, _ := slices.BinarySearchFunc(s.log, from+1,
		func(c memoryChange, at int64) int { return cmp.Compare(c.change, at) })
	var changes []Record
	for _, c := range s.log[place:] {
		if row := s.rows[c.key]; row.change == c.change {
			if changes = append(changes, row.record()); len(changes) == limit {
				break
			}
		}
	}
	return changes, nil
}

// Claim implements [Store].
func (s *MemoryStore) Claim(ctx context.Context, claim Claim) (claimed []Claimed, next time.Time, err error) {
	if err := ctx.Err(); err != nil {
		return nil, time.Time{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.endLeases(time.Now())
	if claim.Key != "" {
		row := s.rows[claim.Key]
		switch {
		case row == nil:
			return nil, time.Time{}, &NotFound{Key: claim.Key}
		case row.leased:
			return nil, time.Time{}, &CallInProgress{Key: claim.Key}
		}
		return []Claimed{s.take(row, claim)}, time.Time{}, nil
	}
	claimed = s.takeDue(claim)
	if queue := s.byDue[claim.Work]; queue != nil && queue.first() != nil {
		next = queue.first().due
	}
	return claimed, next, nil
}

// takeDue leases the due rows of a class in their order.
func (s *MemoryStore) takeDue(claim Claim) (claimed []Claimed) {
	queue := s.byDue[claim.Work]
	if claim.Work == WorkBegin {
		queue = &s.byTurn
	}
	var early []*memoryRow // rows whose turn comes before they are due
	for queue != nil && len(claimed) < claim.Limit {
		next := queue.first()
		switch {
		case next == nil || claim.Work != WorkBegin && next.due.After(claim.Now):
			queue = nil
			continue
		case next.due.After(claim.Now):
			early = append(early, next)
			queue.drop()
			continue
		case claim.Work == WorkBegin:
			s.turn = max(s.turn, next.turn)
		}
		claimed = append(claimed, s.take(next, claim))
	}
	for _, row := range early {
		s.byTurn.add(row, time.Time{}, row.turn)
	}
	return claimed
}

// take takes a row out of its queue and leases it.
func (s *MemoryStore) take(row *memoryRow, claim Claim) Claimed {
	row.version++
	row.leased, row.until = true, time.Now().Add(claim.For)
	row.lease = Lease{Owner: claim.Owner, Epoch: row.lease.Epoch + 1}
	s.leased.add(row, row.until, 0)
	return Claimed{Record: row.record(), Lease: row.lease}
}

// endLeases puts the rows of ended leases back. Their holders keep the lease until another process claims the row.
func (s *MemoryStore) endLeases(now time.Time) {
	for row := s.leased.first(); row != nil && !now.Before(row.until); row = s.leased.first() {
		s.release(row)
	}
}

func (s *MemoryStore) release(row *memoryRow) {
	row.version++
	row.leased = false
	s.enqueue(row)
}

func (s *MemoryStore) enqueue(row *memoryRow) {
	if row.needs > RecordVersion {
		return // a newer program claims it
	}
	if queue := s.byDue[row.work]; queue != nil {
		queue.add(row, row.due, 0)
	}
	if row.work == WorkBegin {
		s.byTurn.add(row, time.Time{}, row.turn)
	}
}

// Extend implements [Store].
func (s *MemoryStore) Extend(
	ctx context.Context, leases map[moneymovement.Key]Lease, d time.Duration,
) (lost []moneymovement.Key, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, lease := range leases {
		row := s.rows[key]
		if !row.holds(lease) {
			lost = append(lost, key)
			continue
		}
		row.version++
		row.leased, row.until = true, time.Now().Add(d)
		s.leased.add(row, row.until, 0)
	}
	slices.Sort(lost)
	return lost, nil
}

// holds reports that a lease is the last one of the row, and was not given back.
func (r *memoryRow) holds(lease Lease) bool { return r != nil && lease.Epoch > 0 && r.lease == lease }

// Save implements [Store].
func (s *MemoryStore) Save(ctx context.Context, claimed Claimed, release bool) (Position, error) {
	text, err := claimed.Encode()
	if err = cmp.Or(ctx.Err(), err); err != nil {
		return "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	kept := s.rows[claimed.Key]
	if !kept.holds(claimed.Lease) {
		return "", &LeaseLost{Key: claimed.Key, Lease: claimed.Lease}
	}
	if claimed.Count != nil {
		before := kept.record()
		changes, err := claimed.Recount(before.Spending, s.sum)
		if err != nil {
			return "", err
		}
		s.add(changes)
	}
	position := s.changed(kept, &claimed.Record, text)
	switch {
	case release:
		kept.lease.Owner = ""
		s.release(kept)
	case !kept.leased: // it has ended, and nobody has claimed the row: it waits in the queue of its new work
		s.release(kept)
	}
	return position, nil
}

// Postpone implements [Store].
func (s *MemoryStore) Postpone(ctx context.Context, claimed Claimed) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	kept := s.rows[claimed.Key]
	if !kept.holds(claimed.Lease) {
		return &LeaseLost{Key: claimed.Key, Lease: claimed.Lease}
	}
	kept.due, kept.lease.Owner = claimed.Due, ""
	s.release(kept)
	return nil
}

// Summary implements [Store].
func (s *MemoryStore) Summary(ctx context.Context) (Summary, error) {
	if err := ctx.Err(); err != nil {
		return Summary{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	summary := Summary{ByState: map[moneymovement.PaymentState]int{}, RestoredFrom: s.restoredFrom}
	for _, row := range s.rows {
		summary.ByState[row.state]++
		if row.work != WorkNone && (summary.OldestDue.IsZero() || row.due.Before(summary.OldestDue)) {
			summary.OldestDue = row.due
		}
	}
	return summary, nil
}

// MarkRestored implements [Store].
func (s *MemoryStore) MarkRestored(ctx context.Context, since time.Time) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if since.IsZero() {
		s.restoredFrom = time.Time{}
		return nil
	}
	if s.restoredFrom.IsZero() || since.Before(s.restoredFrom) {
		s.restoredFrom = since.UTC()
	}
	for _, key := range s.keys {
		row := s.rows[key]
		record, differs := row.record().Restored(s.restoredFrom)
		if !differs {
			continue
		}
		text, err := record.Encode()
		if err != nil {
			return err
		}
		s.changed(row, &record, text)
		row.lease = Lease{Epoch: row.lease.Epoch + 1}
		s.release(row)
	}
	return nil
}

// memoryQueue holds rows in an order. A row that has left it is dropped when its turn comes.
type memoryQueue struct{ places places }

type place struct {
	row     *memoryRow
	version int
	at      time.Time
	turn    int64
}

func (q *memoryQueue) add(row *memoryRow, at time.Time, turn int64) {
	heap.Push(&q.places, place{row, row.version, at, turn})
}

// first returns the first row, or nil. The row stays until its version rises.
func (q *memoryQueue) first() *memoryRow {
	for len(q.places) > 0 {
		if first := q.places[0]; first.version == first.row.version {
			return first.row
		}
		heap.Pop(&q.places)
	}
	return nil
}

func (q *memoryQueue) drop() { heap.Pop(&q.places) }

// places implements heap.Interface.
type places []place

func (p places) Len() int      { return len(p) }
func (p places) Swap(i, j int) { p[i], p[j] = p[j], p[i] }
func (p places) Less(i, j int) bool {
	return cmp.Or(p[i].at.Compare(p[j].at), cmp.Compare(p[i].turn, p[j].turn),
		cmp.Compare(p[i].row.key, p[j].row.key)) < 0
}

// Push implements heap.Interface.
func (p *places) Push(x any) {
	*p = append(*p, x.(place)) //nolint:errcheck,forcetypeassert // only add calls it
}

// Pop implements heap.Interface.
func (p *places) Pop() any {
	last := (*p)[len(*p)-1]
	*p = (*p)[:len(*p)-1]
	return last
}
