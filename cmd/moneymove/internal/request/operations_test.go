package request_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/request"
)

func TestOperationsAreThoseOfTheDescriptions(t *testing.T) {
	all, err := request.All()
	require.NoError(t, err)
	counts := map[request.Surface]int{}
	keyed := map[string]bool{}
	for _, o := range all {
		counts[o.Surface]++
		assert.NotEmpty(t, o.ID)
		if o.Keyed == request.ByKey {
			keyed[o.ID] = true
			assert.True(t, o.TakesKey, o.ID)
		}
	}
	for _, surface := range []request.Surface{
		request.Platform, request.App, request.Reference, request.Public,
	} {
		assert.Positive(t, counts[surface], surface)
	}
	assert.Equal(t, map[string]bool{
		"BookPayout": true, "CreateEscrow": true, "PrepareEscrowAction": true, "CreateDeposit": true,
		"CompletePayin": true, "MovePayout": true, "CreateTransfer": true,
	}, keyed)
}

func TestFind(t *testing.T) {
	all, err := request.All()
	require.NoError(t, err)
	for _, c := range []struct {
		method, path, operation string
		surface                 request.Surface
		open                    bool
	}{
		{"POST", "/dapi/v1/payouts", "BookPayout", request.Platform, false},
		{"POST", "/dapi/v1/payouts/po_1/confirm", "ConfirmPayout", request.Platform, false},
		{"POST", "/dapi/v1/auth/challenge", "CreateChallenge", request.Platform, true},
		{"GET", "/user", "GetProfile", request.App, false},
		{"GET", "/banks", "ListBanks", request.App, false},
		{"GET", "/dapi/v1/banks", "ListRails", request.Platform, false},
		{"GET", "/documents/contracts/invoices", "ListInvoices", request.App, false},
		{"GET", "/api/v1/accounts/cards", "ListCards", request.Reference, false},
		{"GET", "/utils/rates/EUR", "GetRate", request.Public, true},
	} {
		found, ok := request.Find(all, c.method, c.path)
		require.True(t, ok, c.path)
		assert.Equal(t, c.operation, found.ID, c.path)
		assert.Equal(t, c.surface, found.Surface, c.path)
		assert.Equal(t, c.surface, request.SurfaceOf(c.path), c.path)
		assert.Equal(t, c.open, found.Open || found.Surface == request.Public, c.path)
	}
	for _, path := range []string{"/dapi/v1/payouts/", "/nowhere", "/dapi/v1/clients//", "/dapi/v1"} {
		_, ok := request.Find(all, "GET", path)
		assert.False(t, ok, path)
	}
}
