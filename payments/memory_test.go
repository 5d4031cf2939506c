package payments_test

import (
	"testing"

	"github.com/moneymovement/moneymovement-go/internal/tier"
	"github.com/moneymovement/moneymovement-go/payments"
	"github.com/moneymovement/moneymovement-go/payments/storetest"
)

func TestMemoryStore(t *testing.T) {
	open := func(*testing.T) payments.Store { return payments.NewMemoryStore() }
	t.Run("in virtual time", func(t *testing.T) { storetest.Run(t, open, storetest.VirtualTime()) })
	t.Run("in real time", func(t *testing.T) {
		tier.Long(t, "waits for leases to end")
		storetest.Run(t, open, storetest.Seed(2))
	})
}
