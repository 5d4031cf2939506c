package postgres_test

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/payments"
	"github.com/moneymovement/moneymovement-go/payments/postgres"
	"github.com/moneymovement/moneymovement-go/signing"
)

// limited returns a processor whose payments of a day may be at most so much.
func limited(t *testing.T, store payments.Store, most int64) *payments.Processor {
	t.Helper()
	key, err := signing.Generate()
	require.NoError(t, err)
	platform, err := dapi.NewIntegrator("http://127.0.0.1", dapi.Developer{Email: "a@example.com", Key: key})
	require.NoError(t, err)
	p, err := payments.New(store, payments.IntegratorServices(platform), payments.Config{Limits: &payments.Limits{
		TimeZone: "UTC", Assets: map[dapi.Asset]payments.Caps{dapi.USDC: {Day: new(decimal.NewFromInt(most))}}},
		Now: func() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }})
	require.NoError(t, err)
	return p
}

// Transactions of any isolation pass no cap together, and what is rolled back makes room again.
func TestSubmitTxWithinACap(t *testing.T) {
	for _, isolation := range []pgx.TxIsoLevel{pgx.ReadCommitted, pgx.RepeatableRead, pgx.Serializable} {
		t.Run(string(isolation), func(t *testing.T) {
			store, pool := open(t, postgres.Options{})
			p := limited(t, store, 10)
			var accepted, refused atomic.Int64
			submit := func(key string, then error) error {
				for {
					var record payments.Record
					options := pgx.TxOptions{IsoLevel: isolation}
					err := pgx.BeginTxFunc(t.Context(), pool, options, func(tx pgx.Tx) (err error) {
						record, err = store.SubmitTx(t.Context(), tx, p, payment(moneymovement.Key(key)))
						return cmp.Or(err, then)
					})
					conflict, ok := errors.AsType[*pgconn.PgError](err)
					switch {
					case ok && conflict.Code == "40001":
						continue
					case err != nil:
						return err
					case record.State == moneymovement.PaymentNeedsDecision:
						assert.Equal(t, payments.ReasonPolicy, record.Reason.Code)
						refused.Add(1)
					default:
						accepted.Add(1)
					}
					return nil
				}
			}
			errRolledBack := errors.New("rolled back")
			for i := range 20 { // each of 1 USDC
				require.ErrorIs(t, submit(fmt.Sprint("rolled-back-", i), errRolledBack), errRolledBack)
			}
			var group sync.WaitGroup
			for worker := range 8 {
				group.Go(func() {
					for i := range 4 {
						assert.NoError(t, submit(fmt.Sprintf("w%d-%d", worker, i), nil))
					}
				})
			}
			group.Wait()
			assert.EqualValues(t, 10, accepted.Load())
			assert.EqualValues(t, 22, refused.Load())
		})
	}
}

// A program that knows only version 1 of the tables would not count: it must not start any more.
func TestFirstCountRaisesTheVersion(t *testing.T) {
	store, pool := open(t, postgres.Options{})
	version := func() (version int) {
		row := pool.QueryRow(t.Context(), "SELECT version FROM moneymovement.payments_schema")
		require.NoError(t, row.Scan(&version))
		return version
	}
	insert(t, store, "a")
	assert.Equal(t, 1, version())
	_, err := limited(t, store, 10).Submit(t.Context(), payment("b"))
	require.NoError(t, err)
	assert.Equal(t, 3, version())
	opened(t, pool, postgres.Options{})
}

// A role that may not count pays without limits, and is told what it lacks with them.
func TestRoleThatMayNotCount(t *testing.T) {
	store, admin := open(t, postgres.Options{})
	insert(t, store, "there")
	execute(t, admin, `CREATE ROLE `+role()+` LOGIN PASSWORD 'pay'`)
	defer func() {
		execute(t, admin, `DROP OWNED BY `+role())
		execute(t, admin, `DROP ROLE `+role())
	}()
	execute(t, admin, `GRANT USAGE ON SCHEMA moneymovement TO `+role())
	execute(t, admin, `GRANT SELECT, INSERT, UPDATE ON ALL TABLES IN SCHEMA moneymovement TO `+role())
	execute(t, admin, `GRANT ALL ON ALL SEQUENCES IN SCHEMA moneymovement TO `+role())
	execute(t, admin, `REVOKE ALL ON moneymovement.tallies FROM `+role())
	config := admin.Config()
	config.ConnConfig.User, config.ConnConfig.Password = strings.Trim(role(), `"`), "pay"
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	require.NoError(t, err)
	defer pool.Close()
	store, err = postgres.Open(t.Context(), pool, postgres.Options{})
	require.NoError(t, err)
	_, _, err = store.Insert(context.Background(), prepared(t, "without"))
	require.NoError(t, err)
	_, err = limited(t, store, 10).Submit(t.Context(), payment("with"))
	lacks, ok := errors.AsType[*postgres.RightMissing](err)
	require.True(t, ok, "%v", err)
	assert.Equal(t, "moneymovement.tallies", lacks.On)
	assert.ErrorContains(t, err, "GRANT")
}
