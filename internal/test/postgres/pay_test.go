package postgres_test

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/payments"
	"github.com/moneymovement/moneymovement-go/payments/postgres"
)

func TestTwoProcessorsPayAThousandPaymentsOnce(t *testing.T) {
	w := newWorld(t, shared.PostgreSQL(t))
	config := payments.Config{InFlight: 16, PollEvery: 100 * time.Millisecond}
	first, second := w.resumed(postgres.Options{}, config), w.resumed(postgres.Options{}, config)
	keys := numbered("invoice", 1000)
	_, err := first.pool.Exec(t.Context(), "CREATE TABLE invoices (id text PRIMARY KEY)")
	require.NoError(t, err)
	var group sync.WaitGroup
	for i := range 8 {
		by := []*program{first, second}[i%2]
		group.Go(func() {
			for n := i; n < len(keys); n += 8 {
				assert.NoError(t, w.submitOne(t.Context(), by, keys[n]))
			}
		})
	}
	group.Wait()
	w.await(first, len(keys), 2*time.Minute)
	w.once(first, keys)
	for _, p := range []*program{first, second} {
		assert.Greater(t, p.key.Approvals(), 100, "both have a share of the work")
	}
	assert.Equal(t, len(keys), first.key.Approvals()+second.key.Approvals(), "each is signed once")
}

// A process that was too slow has lost its lease. It must not sign what another process pays.
func TestAnOwnerThatWasTooSlowSignsNothing(t *testing.T) {
	w := newWorld(t, shared.PostgreSQL(t))
	slow := w.program()
	booked, goOn := make(chan struct{}), make(chan struct{})
	slowly := func(store payments.Store) payments.Store {
		return &slowStore{Store: store, reached: booked, goOn: goOn}
	}
	config := payments.Config{LeaseFor: time.Second, PollEvery: 50 * time.Millisecond}
	require.NoError(t, slow.open(t.Context(), w.pool(), postgres.Options{}, config, slowly))
	w.submit(slow, "invoice")
	var group sync.WaitGroup
	group.Go(func() {
		_, err := slow.processor.Step(t.Context(), "invoice")
		var lost *payments.LeaseLost
		assert.ErrorAs(t, err, &lost)
	})
	<-booked // and about to store that it signs

	other := w.resumed(postgres.Options{}, config)
	w.await(other, 1, 2*time.Minute)
	close(goOn)
	group.Wait()
	w.once(other, []moneymovement.Key{"invoice"})
	assert.Zero(t, slow.key.Approvals(), "the process without a lease signs nothing")
	assert.Equal(t, 1, other.key.Approvals())
}
