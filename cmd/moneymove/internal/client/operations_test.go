package client_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/client"
)

func TestOperationsAreThoseOfTheDescriptions(t *testing.T) {
	all, err := client.All()
	require.NoError(t, err)
	counts := map[client.Surface]int{}
	keyed := map[string]bool{}
	for _, o := range all {
		counts[o.Surface]++
		assert.NotEmpty(t, o.ID)
		if o.Keyed == client.ByKey {
			keyed[o.ID] = true
			assert.True(t, o.TakesKey, o.ID)
		}
	}
	for _, surface := range []client.Surface{
		client.Platform, client.App, client.Reference, client.Public,
	} {
		assert.Positive(t, counts[surface], surface)
	}
	assert.Equal(t, map[string]bool{
		"BookPayout": true, "CreateEscrow": true, "PrepareEscrowAction": true, "CreateDeposit": true,
		"CompletePayin": true, "MovePayout": true, "CreateTransfer": true,
	}, keyed)
}

func TestFind(t *testing.T) {
	for _, c := range []struct {
		method, path, operation string
		surface                 client.Surface
		open                    bool
	}{
		{"POST", "/dapi/v1/payouts", "BookPayout", client.Platform, false},
		{"POST", "/dapi/v1/payouts/po_1/confirm", "ConfirmPayout", client.Platform, false},
		{"POST", "/dapi/v1/auth/challenge", "CreateChallenge", client.Platform, true},
		{"GET", "/user", "GetProfile", client.App, false},
		{"GET", "/banks", "ListBanks", client.App, false},
		{"GET", "/dapi/v1/banks", "ListRails", client.Platform, false},
		{"GET", "/documents/contracts/invoices", "ListInvoices", client.App, false},
		{"GET", "/api/v1/accounts/cards", "ListCards", client.Reference, false},
		{"GET", "/utils/rates/EUR", "GetRate", client.Public, true},
	} {
		found, ok, err := client.Find(c.method, c.path)
		require.NoError(t, err)
		require.True(t, ok, c.path)
		assert.Equal(t, c.operation, found.ID, c.path)
		assert.Equal(t, c.surface, found.Surface, c.path)
		assert.Equal(t, c.surface, client.SurfaceOf(c.path), c.path)
		assert.Equal(t, c.open, found.Open || found.Surface == client.Public, c.path)
	}
	for _, path := range []string{"/dapi/v1/payouts/", "/nowhere", "/dapi/v1/clients//", "/dapi/v1"} {
		_, ok, err := client.Find("GET", path)
		require.NoError(t, err)
		assert.False(t, ok, path)
	}
}
