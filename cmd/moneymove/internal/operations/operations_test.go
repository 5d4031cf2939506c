package operations_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/operations"
)

func TestOperationsAreThoseOfTheDescriptions(t *testing.T) {
	all, err := operations.All()
	require.NoError(t, err)
	counts := map[operations.Surface]int{}
	keyed := map[string]bool{}
	for _, o := range all {
		counts[o.Surface]++
		assert.NotEmpty(t, o.ID)
		if o.Keyed == operations.ByKey {
			keyed[o.ID] = true
			assert.True(t, o.TakesKey, o.ID)
		}
	}
	for _, surface := range []operations.Surface{
		operations.Platform, operations.App, operations.Reference, operations.Public,
	} {
		assert.Positive(t, counts[surface], surface)
	}
	assert.Equal(t, map[string]bool{
		"BookPayout": true, "CreateEscrow": true, "PrepareEscrowAction": true, "CreateDeposit": true,
		"CompletePayin": true, "MovePayout": true, "CreateTransfer": true,
	}, keyed)
}

func TestFind(t *testing.T) {
	all, err := operations.All()
	require.NoError(t, err)
	for _, c := range []struct {
		method, path, operation string
		surface                 operations.Surface
		open                    bool
	}{
		{"POST", "/dapi/v1/payouts", "BookPayout", operations.Platform, false},
		{"POST", "/dapi/v1/payouts/po_1/confirm", "ConfirmPayout", operations.Platform, false},
		{"POST", "/dapi/v1/auth/challenge", "CreateChallenge", operations.Platform, true},
		{"GET", "/user", "GetProfile", operations.App, false},
		{"GET", "/banks", "ListBanks", operations.App, false},
		{"GET", "/dapi/v1/banks", "ListRails", operations.Platform, false},
		{"GET", "/documents/contracts/invoices", "ListInvoices", operations.App, false},
		{"GET", "/api/v1/accounts/cards", "ListCards", operations.Reference, false},
		{"GET", "/utils/rates/EUR", "GetRate", operations.Public, true},
	} {
		found, ok := operations.Find(all, c.method, c.path)
		require.True(t, ok, c.path)
		assert.Equal(t, c.operation, found.ID, c.path)
		assert.Equal(t, c.surface, found.Surface, c.path)
		assert.Equal(t, c.surface, operations.SurfaceOf(c.path), c.path)
		assert.Equal(t, c.open, found.Open || found.Surface == operations.Public, c.path)
	}
	for _, path := range []string{"/dapi/v1/payouts/", "/nowhere", "/dapi/v1/clients//", "/dapi/v1"} {
		_, ok := operations.Find(all, "GET", path)
		assert.False(t, ok, path)
	}
}
