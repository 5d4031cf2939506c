package payments

import (
	"cmp"
	"container/heap"
	"context"
	"slices"
	"strconv"
	"sync"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
)

// MemoryStore is a [Store] that keeps everything in memory. It is for tests: nothing survives the end of the process.
// The zero value is an empty store.
type MemoryStore struct {
	mu      sync.Mutex
	rows    map[moneymovement.Key]*memoryRow
	keys    []moneymovement.Key // sorted
	log     []memoryChange      // in the order of the changes; some were replaced by later ones
	changes int64
	turns   map[dapi.ClientID]int64 // the last turn that each account was given
	turn    int64                   // the turn that was claimed last
	byDue   map[Work]*memoryQueue
	byTurn  memoryQueue // the rows of WorkBegin
	leased  memoryQueue // in the order in which the leases end
}

type memoryRow struct {
	Row
	turn    int64 // the order among rows of WorkBegin
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
		s.byDue = map[Work]*memoryQueue{WorkBegin: {}, WorkAgain: {}, WorkFollow: {}}
	}
}

// Insert implements [Store].
func (s *MemoryStore) Insert(ctx context.Context, row Row) (Row, bool, error) {
	if err := ctx.Err(); err != nil {
		return Row{}, false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.make()
	if known := s.rows[row.Key]; known != nil {
		return known.copied(), false, nil
	}
	kept := &memoryRow{Row: row}
	kept.Data, kept.Lease = slices.Clone(row.Data), Lease{}
	kept.turn = max(s.turns[row.Account]+1, s.turn)
	s.turns[row.Account] = kept.turn
	s.rows[row.Key] = kept
	place, _ := slices.BinarySearch(s.keys, row.Key)
	s.keys = slices.Insert(s.keys, place, row.Key)
	s.changed(kept)
	s.enqueue(kept)
	return kept.copied(), true, nil
}

// changed gives a row its place in the log. The log is made anew when more than half of it was replaced.
func (s *MemoryStore) changed(row *memoryRow) {
	s.changes++
	row.change, row.Position = s.changes, Position(strconv.FormatInt(s.changes, 10))
	s.log = append(s.log, memoryChange{row.Key, row.change})
	if len(s.log) > 2*len(s.rows)+16 {
		s.log = slices.DeleteFunc(s.log, func(c memoryChange) bool { return s.rows[c.key].change != c.change })
	}
}

// copied returns the row without its lease, which only a claim returns.
func (r *memoryRow) copied() Row {
	row := r.Row
	row.Data, row.Lease = slices.Clone(r.Data), Lease{}
	return row
}

// Load implements [Store].
func (s *MemoryStore) Load(ctx context.Context, key moneymovement.Key) (Row, error) {
	if err := ctx.Err(); err != nil {
		return Row{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if known := s.rows[key]; known != nil {
		return known.copied(), nil
	}
	return Row{}, &NotFound{Key: key}
}

// List implements [Store].
func (s *MemoryStore) List(ctx context.Context, list List) ([]Row, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []Row
	place, known := slices.BinarySearch(s.keys, list.After)
	if known {
		place++
	}
	for _, key := range s.keys[place:] {
		row := s.rows[key]
		if len(list.States) > 0 && !slices.Contains(list.States, row.State) ||
			list.ByAccount && row.Account != list.Account {
			continue
		}
		if found = append(found, row.copied()); len(found) == list.Limit {
			break
		}
	}
	return found, nil
}

// Changes implements [Store].
func (s *MemoryStore) Changes(ctx context.Context, after Position, limit int) ([]Row, error) {
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
	var changes []Row
	for _, c := range s.log[place:] {
		if row := s.rows[c.key]; row.change == c.change {
			if changes = append(changes, row.copied()); len(changes) == limit {
				break
			}
		}
	}
	return changes, nil
}

// Claim implements [Store].
func (s *MemoryStore) Claim(ctx context.Context, claim Claim) (Claimed, error) {
	if err := ctx.Err(); err != nil {
		return Claimed{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.endLeases(time.Now())
	if claim.Key != "" {
		row := s.rows[claim.Key]
		switch {
		case row == nil:
			return Claimed{}, &NotFound{Key: claim.Key}
		case row.leased:
			return Claimed{}, &Busy{Key: claim.Key}
		}
		return Claimed{Rows: []Row{s.lease(row, claim)}}, nil
	}
	claimed := Claimed{Rows: s.take(claim)}
	if queue := s.byDue[claim.Work]; queue != nil && queue.first() != nil {
		claimed.Next = queue.first().Due
	}
	return claimed, nil
}

// take leases the due rows of a class in their order.
func (s *MemoryStore) take(claim Claim) (rows []Row) {
	queue := s.byDue[claim.Work]
	if claim.Work == WorkBegin {
		queue = &s.byTurn
	}
	var early []*memoryRow // rows whose turn comes before they are due
	for queue != nil && len(rows) < claim.Limit {
		next := queue.first()
		switch {
		case next == nil || claim.Work != WorkBegin && next.Due.After(claim.Now):
			queue = nil
			continue
		case next.Due.After(claim.Now):
			early = append(early, next)
			queue.drop()
			continue
		case claim.Work == WorkBegin:
			s.turn = max(s.turn, next.turn)
		}
		rows = append(rows, s.lease(next, claim))
	}
	for _, row := range early {
		s.byTurn.add(row, time.Time{}, row.turn)
	}
	return rows
}

// lease takes a row out of its queue and leases it.
func (s *MemoryStore) lease(row *memoryRow, claim Claim) Row {
	row.version++
	row.leased, row.until = true, time.Now().Add(claim.For)
	row.Lease = Lease{Owner: claim.Owner, Epoch: row.Lease.Epoch + 1}
	s.leased.add(row, row.until, 0)
	leased := row.copied()
	leased.Lease = row.Lease
	return leased
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
	if queue := s.byDue[row.Work]; queue != nil {
		queue.add(row, row.Due, 0)
	}
	if row.Work == WorkBegin {
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
func (r *memoryRow) holds(lease Lease) bool { return r != nil && lease.Epoch > 0 && r.Lease == lease }

// Save implements [Store].
func (s *MemoryStore) Save(ctx context.Context, row Row, release bool) (Position, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	kept := s.rows[row.Key]
	if !kept.holds(row.Lease) {
		return "", &LeaseLost{Key: row.Key, Lease: row.Lease}
	}
	kept.State, kept.Work, kept.Due, kept.Data = row.State, row.Work, row.Due, slices.Clone(row.Data)
	s.changed(kept)
	switch {
	case release:
		kept.Lease.Owner = ""
		s.release(kept)
	case !kept.leased: // it has ended, and nobody has claimed the row: it waits in the queue of its new work
		s.release(kept)
	}
	return kept.Position, nil
}

// Postpone implements [Store].
func (s *MemoryStore) Postpone(ctx context.Context, row Row) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	kept := s.rows[row.Key]
	if !kept.holds(row.Lease) {
		return &LeaseLost{Key: row.Key, Lease: row.Lease}
	}
	kept.Due, kept.Lease.Owner = row.Due, ""
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
	summary := Summary{ByState: map[State]int{}}
	for _, row := range s.rows {
		summary.ByState[row.State]++
		if row.Work != WorkNone && (summary.OldestDue.IsZero() || row.Due.Before(summary.OldestDue)) {
			summary.OldestDue = row.Due
		}
	}
	return summary, nil
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
		cmp.Compare(p[i].row.Key, p[j].row.Key)) < 0
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
