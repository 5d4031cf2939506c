package dapi_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

func TestLiveChainsAreAskedForOncePerLifetime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		platform := w.integrator()
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				chains, err := platform.Self().Chains.Live(t.Context())
				assert.NoError(t, err)
				assert.NotEmpty(t, chains)
			})
		}
		all.Wait()
		assert.Equal(t, 1, w.sent("ListChains"))

		time.Sleep(11 * time.Minute)
		_, err := platform.For("cl_1").Chains.Live(t.Context())
		require.NoError(t, err)
		assert.Equal(t, 2, w.sent("ListChains"))
	})
}

// A token that this version does not know is held to its live decimals; USDC and EURC need no asking.
// Rule: error.amount-precision
func TestAmountsAreHeldToTheDecimalsOfTheirToken(t *testing.T) {
	w := newPayWorld(t)
	live := w.account
	book := func(asset dapi.Asset, value string) error {
		asked := w.asked
		asked.Currency, asked.Amount = asset, amount(value)
		_, err := live.Payouts.Book(t.Context(), asked)
		return err
	}
	refused := as[*errors.InvalidInput](t, book(dapi.USDC, "1.0000001"))
	assert.Equal(t, []errors.Field{{Field: "amount", Code: "amount_precision", Message: "has 7 decimals, USDC takes at most 6"}}, refused.Fields)
	assert.Zero(t, w.sent("ListChains"), "USDC has 6 decimals")

	refused = as[*errors.InvalidInput](t, book("DAI", "1.00")) // no settlement asset, which only the listing can tell
	assert.Equal(t, []errors.Field{{Field: "currency", Code: "unknown_asset", Message: "is not one of EURC, USDC"}}, refused.Fields)
	assert.Equal(t, 1, w.sent("ListChains"))
	assert.Zero(t, w.sent("BookPayout"))
}

func TestAListingThatCannotBeHadStopsNoPayment(t *testing.T) {
	w := newPayWorld(t)
	w.host.Arm("GET", "/chains", sandbox.Respond(404, "not_found"))
	asked := w.asked
	asked.Currency = "DAI"
	_, err := w.account.Payouts.Book(t.Context(), asked)
	as[*errors.ValidationFailed](t, err)
}

// The listing is asked for by payments, which must not walk without end.
func TestAListingWithoutEndStopsNoPayment(t *testing.T) {
	w := newPayWorld(t)
	pages := 0
	w.wire.onAnswer(func(r *http.Request, answer *http.Response) {
		if strings.HasSuffix(r.URL.Path, "/chains") {
			pages++
			setBody(answer, fmt.Appendf(nil, `{"items":[],"nextCursor":"page-%d"}`, pages))
			answer.StatusCode = http.StatusOK
		}
	})
	_, err := w.account.Chains.Live(t.Context())
	as[*errors.UnexpectedAnswer](t, err)
	assert.Equal(t, 10, pages)

	asked := w.asked
	asked.Currency = "DAI"
	_, err = w.account.Payouts.Book(t.Context(), asked)
	as[*errors.ValidationFailed](t, err)
	assert.Equal(t, 20, pages)
}
