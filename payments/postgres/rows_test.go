package postgres_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/payments"
	"github.com/moneymovement/moneymovement-go/payments/postgres"
)

// payment is a payment of one USDC.
func payment(key moneymovement.Key) payments.Payment {
	return payments.Payment{
		Key: key, Account: payments.OwnAccount,
		Payout: dapi.PayoutCreate{ContactID: "ct_1", Amount: decimal.NewFromInt(1), Currency: dapi.USDC},
	}
}

func prepared(t testing.TB, key moneymovement.Key) payments.Record {
	t.Helper()
	record, err := payments.Prepare(payment(key), time.Now())
	require.NoError(t, err)
	return record
}

func insert(t testing.TB, store *postgres.Store, keys ...moneymovement.Key) {
	t.Helper()
	for _, key := range keys {
		_, inserted, err := store.Insert(t.Context(), prepared(t, key))
		require.NoError(t, err)
		require.True(t, inserted, key)
	}
}

func claimDue(t testing.TB, store *postgres.Store, limit int, lasts time.Duration) []payments.Claimed {
	t.Helper()
	claimed, _, err := store.Claim(t.Context(), payments.Claim{
		Owner: "me", Work: payments.WorkBegin, Limit: limit, Now: time.Now(), For: lasts,
	})
	require.NoError(t, err)
	return claimed
}

// changed returns the keys of the changes after a position, and the last position.
func changed(
	t testing.TB, store *postgres.Store, after payments.Position,
) (keys []moneymovement.Key, at payments.Position) {
	t.Helper()
	records, err := store.Changes(t.Context(), after, 1000)
	require.NoError(t, err)
	at = after
	for _, record := range records {
		keys, at = append(keys, record.Key), record.Position
	}
	return keys, at
}

func numbered(prefix string, n int) (keys []moneymovement.Key) {
	for i := range n {
		keys = append(keys, moneymovement.Key(fmt.Sprintf("%s-%04d", prefix, i)))
	}
	return keys
}

// executor is a pool, a connection or a transaction.
type executor interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

func execute(t testing.TB, by executor, sql string, args ...any) {
	t.Helper()
	_, err := by.Exec(t.Context(), sql, args...)
	require.NoError(t, err)
}

func count(t testing.TB, by executor, sql string, args ...any) (n int) {
	t.Helper()
	require.NoError(t, by.QueryRow(t.Context(), sql, args...).Scan(&n))
	return n
}
