package dapi_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/jarcoal/httpmock"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/internal/surfacetest"
	"github.com/moneymovement/moneymovement-go/signing"
)

// A client that no constructor made, and a call without a context, are refused by each method before it does anything.
func TestCallsThatCannotBeMade(t *testing.T) {
	const makers = "dapi.NewIntegrator or dapi.NewSelfServe"
	key, err := signing.Generate()
	require.NoError(t, err)
	mock := httpmock.NewMockTransport()
	mock.RegisterNoResponder(func(r *http.Request) (*http.Response, error) {
		t.Errorf("%s was sent", r.URL)
		return nil, http.ErrHandlerTimeout
	})
	integrator, err := dapi.NewIntegrator("https://service.example", dapi.Developer{Email: "ops@example.com", Key: key},
		moneymovement.WithHTTPClient(&http.Client{Transport: mock}))
	require.NoError(t, err)
	own, err := dapi.NewSelfServe("https://service.example", dapi.Developer{Email: "ops@example.com", Key: key},
		moneymovement.WithHTTPClient(&http.Client{Transport: mock}))
	require.NoError(t, err)
	nobody, zero := (*dapi.Integrator)(nil), new(dapi.Integrator)

	calls := surfacetest.Surface{
		Makers: makers,
		Made:   []any{integrator, integrator.Self(), integrator.For("cl_x"), own},
		Unmade: []any{zero, nobody.Self(), nobody.For("cl_x"), zero.Self(), zero.For("cl_x"), new(dapi.Account),
			new(dapi.SelfServe)},
	}.Test(t)
	assert.Greater(t, calls, 400, "the walk found next to nothing")
	assert.Equal(t, 108, own.Payouts.MaxInFlight())
	assert.Zero(t, new(dapi.Payouts).MaxInFlight())
	assert.Zero(t, (*dapi.Payouts)(nil).MaxInFlight())

	surfacetest.NoClient(t, nobody.UseKey(key), makers)
	require.ErrorContains(t, nobody.UseKey(key), "UseKey: ")
	surfacetest.NoClient(t, zero.UseKey(key), makers)
	surfacetest.NoClient(t, zero.Self().UseKey(key), makers)
	surfacetest.NoClient(t, (*dapi.Account)(nil).UseKey(key), makers)
	surfacetest.NoClient(t, new(dapi.Account).UseKey(key), makers)
	surfacetest.NoClient(t, (*dapi.SelfServe)(nil).UseKey(key), makers)
	surfacetest.NoClient(t, new(dapi.SelfServe).UseKey(key), makers)
}

func TestAWaitForManyThatCannotBeMade(t *testing.T) {
	for most := range 2 {
		var refused []dapi.PayoutID
		for waited := range new(dapi.Payouts).WaitAll(t.Context(), []dapi.PayoutID{"po_1", "po_2"}) {
			surfacetest.NoClient(t, waited.Err, "dapi.NewIntegrator or dapi.NewSelfServe")
			if refused = append(refused, waited.ID); most == 0 {
				break
			}
		}
		assert.Equal(t, []dapi.PayoutID{"po_1", "po_2"}[:most+1], refused)
	}
}

func TestATokenStoreWantsAContext(t *testing.T) {
	var without context.Context
	store := dapi.NewFileTokenStore(t.TempDir() + "/session")
	_, err := store.Load(without)
	surfacetest.NoContext(t, err)
	require.ErrorContains(t, err, "NewFileTokenStore: ")
	surfacetest.NoContext(t, store.Save(without, dapi.Session{}))
}
