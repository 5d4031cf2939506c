package postgres_test

import (
	"context"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/servers"
	"github.com/moneymovement/moneymovement-go/payments"
	"github.com/moneymovement/moneymovement-go/payments/postgres"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

func TestAKilledWorkersPaymentsGoOnWithin30Seconds(t *testing.T) {
	w := newWorld(t, shared.PostgreSQL(t))
	keys := numbered("invoice", 300)
	submits := w.program()
	require.NoError(t, submits.open(t.Context(), w.pool(), postgres.Options{}, payments.Config{}, nil))
	w.submit(submits, keys[:50]...)

	worker := w.worker()
	held := func() (keys []moneymovement.Key) {
		rows, err := submits.pool.Query(t.Context(),
			"SELECT key FROM moneymovement.payments WHERE lease_owner = 'worker'")
		require.NoError(t, err)
		defer rows.Close()
		for rows.Next() {
			var key moneymovement.Key
			require.NoError(t, rows.Scan(&key))
			keys = append(keys, key)
		}
		return keys
	}
	w.await(submits, 50, time.Minute)
	// Confirms that wait keep the worker in the middle of payments. When it dies, the host handles them at once.
	slow := w.Host.Arm(http.MethodPost, "/payouts/{payoutId}/confirm", sandbox.Delay(time.Minute).Times(len(keys)))
	w.submit(submits, keys[50:]...)
	require.Eventually(t, func() bool { return slow.Consumed() > 0 }, 10*time.Second, time.Millisecond)
	require.NoError(t, worker.Process.Kill())
	slow.Disarm()
	killed := time.Now()
	_ = worker.Wait()
	left := held()
	require.NotEmpty(t, left, "the process was killed in the middle of payments")

	other := w.resumed(postgres.Options{}, payments.Config{InFlight: 16})
	for _, key := range left {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		_, err := other.processor.Await(ctx, key, moneymovement.PaymentCompleted)
		cancel()
		require.NoError(t, err)
	}
	took := time.Since(killed)
	t.Logf("%d payments of the killed process were completed %v after its end", len(left), took.Round(time.Millisecond))
	assert.Less(t, took, 30*time.Second)
	w.await(other, len(keys), time.Minute)
	w.once(other, keys)
}

func TestAServerThatIsKilledUnderLoadLosesNothing(t *testing.T) {
	database := servers.PostgreSQL(t)
	w := newWorld(t, database)
	config := payments.Config{InFlight: 8, PollEvery: 100 * time.Millisecond, LeaseFor: 3 * time.Second}
	first, second := w.resumed(postgres.Options{Jobs: &postgres.Jobs{}}, config), w.resumed(postgres.Options{}, config)
	keys := numbered("invoice", 400)
	w.submit(first, keys[:100]...)
	w.await(first, 10, time.Minute)

	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	var group sync.WaitGroup
	var mu sync.Mutex
	failed := 0
	for i := range 4 {
		by := []*program{first, second}[i%2]
		group.Go(func() {
			for n := 100 + i; n < len(keys); n += 4 {
				for ctx.Err() == nil {
					err := w.submitOne(ctx, by, keys[n])
					if err == nil {
						break
					}
					mu.Lock()
					failed++
					mu.Unlock()
					rest(ctx, 20*time.Millisecond)
				}
			}
		})
	}
	for range 3 {
		rest(ctx, 300*time.Millisecond)
		database.Kill()
		_, err := first.store.Load(ctx, keys[0])
		var lost *postgres.Unreachable
		require.ErrorAs(t, err, &lost)
		database.Restart()
	}
	group.Wait()
	w.await(first, len(keys), 2*time.Minute)
	w.once(first, keys)
	var invoices int
	require.NoError(t, first.pool.QueryRow(ctx, "SELECT count(*) FROM invoices").Scan(&invoices))
	assert.Equal(t, len(keys), invoices)
	mu.Lock()
	defer mu.Unlock()
	assert.Positive(t, failed, "submits met a server that was down, and were repeated")
}

func rest(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
