package payments

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
)

// MemoryStore is a [Store] that keeps everything in memory. It is for tests: nothing survives the end of the process.
type MemoryStore struct {
	mu      sync.Mutex
	rows    map[moneymovement.Key]*memoryRow
	turns   map[dapi.ClientID]int64 // the last turn that each account was given
	turn    int64                   // the turn that was claimed last
	changes int64
}

type memoryRow struct {
	Row
	turn    int64 // the order among rows of WorkBegin
	change  int64
	until   time.Time // the end of the lease, by this machine's clock
	claimed bool
}

// NewMemoryStore returns an empty store.
func NewMemoryStore() *MemoryStore {
	return &MemoryStore{rows: map[moneymovement.Key]*memoryRow{}, turns: map[dapi.ClientID]int64{}}
}

// Insert implements [Store].
func (s *MemoryStore) Insert(ctx context.Context, row Row) (Row, bool, error) {
	if err := ctx.Err(); err != nil {
		return Row{}, false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if known := s.rows[row.Key]; known != nil {
		return known.copied(), false, nil
	}
	kept := &memoryRow{Row: row}
	kept.Data, kept.Lease = slices.Clone(row.Data), Lease{}
	kept.turn = max(s.turns[row.Account]+1, s.turn)
	s.turns[row.Account] = kept.turn
	s.rows[row.Key] = kept
	s.changed(kept)
	return kept.copied(), true, nil
}

func (s *MemoryStore) changed(row *memoryRow) {
	s.changes++
	row.change, row.Position = s.changes, Position(strconv.FormatInt(s.changes, 10))
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
	for _, key := range slices.Sorted(maps.Keys(s.rows)) {
		row := s.rows[key]
		if key <= list.After || len(list.States) > 0 && !slices.Contains(list.States, row.State) ||
			list.ByAccount && row.Account != list.Account {
			continue
		}
		if len(found) == list.Limit {
			break
		}
		found = append(found, row.copied())
	}
	return found, nil
}

// Changes implements [Store].
func (s *MemoryStore) Changes(ctx context.Context, after Position, limit int) ([]Row, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	from := int64(0)
	if after != "" {
		var err error
		if from, err = strconv.ParseInt(string(after), 10, 64); err != nil {
			return nil, &BadPosition{Position: after}
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []*memoryRow
	for _, row := range s.rows {
		if row.change > from {
			found = append(found, row)
		}
	}
	slices.SortFunc(found, func(a, b *memoryRow) int { return cmp.Compare(a.change, b.change) })
	var changes []Row
	for _, row := range found[:min(limit, len(found))] {
		changes = append(changes, row.copied())
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
	if claim.Key != "" {
		row := s.rows[claim.Key]
		switch {
		case row == nil:
			return Claimed{}, &NotFound{Key: claim.Key}
		case row.held():
			return Claimed{}, &Busy{Key: claim.Key}
		}
		return Claimed{Rows: []Row{row.claim(claim)}}, nil
	}
	var due []*memoryRow
	for _, row := range s.rows {
		if row.Work == claim.Work && !row.held() {
			due = append(due, row)
		}
	}
	slices.SortFunc(due, func(a, b *memoryRow) int {
		if claim.Work == WorkBegin {
			return cmp.Or(cmp.Compare(a.turn, b.turn), cmp.Compare(a.change, b.change))
		}
		return cmp.Or(a.Due.Compare(b.Due), cmp.Compare(a.Key, b.Key))
	})
	var claimed Claimed
	for _, row := range due {
		if row.Due.After(claim.Now) || len(claimed.Rows) == claim.Limit {
			if claimed.Next.IsZero() || row.Due.Before(claimed.Next) {
				claimed.Next = row.Due
			}
			continue
		}
		claimed.Rows = append(claimed.Rows, row.claim(claim))
		if claim.Work == WorkBegin {
			s.turn = max(s.turn, row.turn)
		}
	}
	return claimed, nil
}

func (r *memoryRow) held() bool { return r.claimed && time.Now().Before(r.until) }

func (r *memoryRow) claim(claim Claim) Row {
	r.claimed, r.until = true, time.Now().Add(claim.For)
	r.Lease = Lease{Owner: claim.Owner, Epoch: r.Lease.Epoch + 1}
	row := r.copied()
	row.Lease = r.Lease
	return row
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
		if row := s.rows[key]; row.holds(lease) {
			row.until = time.Now().Add(d)
		} else {
			lost = append(lost, key)
		}
	}
	slices.Sort(lost)
	return lost, nil
}

func (r *memoryRow) holds(lease Lease) bool { return r != nil && r.claimed && r.Lease == lease }

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
	kept.claimed = !release
	s.changed(kept)
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
	kept.Due, kept.claimed = row.Due, false
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
