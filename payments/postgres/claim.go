package postgres

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/payments"
)

// claimedRow is a claimed record with its turn, and its place among those with the same turn.
type claimedRow struct {
	payments.Claimed
	turn, arrival int64
}

// Claim implements [payments.Store]. Rows are due by the clock of the process, and leases end by the database's.
func (s *Store) Claim(ctx context.Context, claim payments.Claim) (
	claimed []payments.Claimed, next time.Time, err error,
) {
	err = s.retryConflicts(ctx, func() error {
		if claim.Key != "" {
			claimed, err = s.claimKey(ctx, claim)
		} else {
			claimed, next, err = s.claimDue(ctx, claim)
		}
		return err
	})
	return claimed, next, err
}

func (s *Store) claimKey(ctx context.Context, claim payments.Claim) ([]payments.Claimed, error) {
	var rows []claimedRow
	var batch pgx.Batch
	batch.Queue(syncCommit)
	batch.Queue(s.text.claimKey, claim.Owner, claim.For.Microseconds(), string(claim.Key)).Query(collectClaimed(&rows))
	if err := send(ctx, s.pool, &batch); err != nil {
		return nil, err
	}
	if len(rows) == 1 {
		return withoutTurns(rows), nil
	}
	if _, err := s.Load(ctx, claim.Key); err != nil {
		return nil, err
	}
	return nil, &payments.CallInProgress{Key: claim.Key}
}

func (s *Store) claimDue(ctx context.Context, claim payments.Claim) ([]payments.Claimed, time.Time, error) {
	text, known := s.text.claim[claim.Work]
	if !known {
		return nil, time.Time{}, nil
	}
	var next time.Time
	var rows []claimedRow
	var batch pgx.Batch
	batch.Queue(syncCommit)
	batch.Queue(text, claim.Owner, claim.For.Microseconds(), claim.Now, max(claim.Limit, 0)).
		Query(collectClaimed(&rows))
	batch.Queue(s.text.next[claim.Work]).Query(func(rows pgx.Rows) error {
		dues, err := pgx.CollectRows(rows, pgx.RowTo[time.Time])
		for _, due := range dues {
			next = due.UTC()
		}
		return err
	})
	if err := send(ctx, s.pool, &batch); err != nil {
		return nil, time.Time{}, err
	}
	slices.SortFunc(rows, func(a, b claimedRow) int { // the database returns them in its own order
		if claim.Work == payments.WorkBegin {
			return cmp.Or(cmp.Compare(a.turn, b.turn), cmp.Compare(a.arrival, b.arrival))
		}
		return cmp.Or(a.Due.Compare(b.Due), cmp.Compare(a.Key, b.Key))
	})
	return withoutTurns(rows), next, nil
}

// collectClaimed collects claimed records.
func collectClaimed(claimed *[]claimedRow) func(pgx.Rows) error {
	return func(rows pgx.Rows) (err error) {
		*claimed, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (t claimedRow, err error) {
			t.Record, err = scan(row, &t.Lease.Owner, &t.Lease.Epoch, &t.turn, &t.arrival)
			return t, err
		})
		return err
	}
}

func withoutTurns(rows []claimedRow) (claimed []payments.Claimed) {
	for _, t := range rows {
		claimed = append(claimed, t.Claimed)
	}
	return claimed
}

// Extend implements [payments.Store]. What it changes may be lost in a crash of the server: the leases then end
// earlier.
func (s *Store) Extend(
	ctx context.Context, leases map[moneymovement.Key]payments.Lease, d time.Duration,
) (lost []moneymovement.Key, err error) {
	if len(leases) == 0 {
		return nil, ctx.Err()
	}
	var keys, owners []string
	var epochs []int64
	for key := range leases {
		keys = append(keys, string(key))
	}
	slices.Sort(keys) // two processes then wait for each other's rows in the same order
	for _, key := range keys {
		lease := leases[moneymovement.Key(key)]
		owners, epochs = append(owners, lease.Owner), append(epochs, lease.Epoch)
	}
	var extended []string
	err = s.retryConflicts(ctx, func() error {
		var batch pgx.Batch
		batch.Queue(asyncCommit)
		batch.Queue(s.text.extend, keys, owners, epochs, d.Microseconds()).Query(func(rows pgx.Rows) (err error) {
			extended, err = pgx.CollectRows(rows, pgx.RowTo[string])
			return err
		})
		return send(ctx, s.pool, &batch)
	})
	if err != nil {
		return nil, err
	}
	slices.Sort(extended)
	for _, key := range keys {
		if _, kept := slices.BinarySearch(extended, key); !kept {
			lost = append(lost, moneymovement.Key(key))
		}
	}
	return lost, nil
}
