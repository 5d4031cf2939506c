package dapi_test

import (
	"context"
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
	"github.com/moneymovement/moneymovement-go/internal/inprocess"
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
		assert.Equal(t, 1, w.Sent("ListChains"))

		time.Sleep(10*time.Minute - 1)
		_, err := platform.Self().Chains.Live(t.Context())
		require.NoError(t, err)
		assert.Equal(t, 1, w.Sent("ListChains"))
		time.Sleep(time.Nanosecond)
		_, err = platform.For("cl_1").Chains.Live(t.Context())
		require.NoError(t, err)
		assert.Equal(t, 2, w.Sent("ListChains"))
	})
}

// Who waits for the listing of another caller waits no longer than there is time.
func TestAListingThatAnotherCallerAsksFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		chains := w.integrator().Self().Chains
		w.Host.Arm("GET", "/chains", sandbox.Delay(5*time.Second))
		var first sync.WaitGroup
		first.Go(func() {
			_, err := chains.Live(t.Context())
			assert.NoError(t, err)
		})
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := chains.Live(ctx)
		undelivered := as[*errors.NotDelivered](t, err)
		assert.Equal(t, "ListChains", undelivered.Operation)
		assert.Empty(t, undelivered.IdempotencyKey)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		_, err = chains.Live(t.Context())
		require.NoError(t, err)
		first.Wait()
		assert.Equal(t, 1, w.Sent("ListChains"))
	})
}

// Balances are held on Base: what a token of the same name has on another chain does not count.
func TestDecimalsOfAnotherChain(t *testing.T) {
	w := newPayWorld(t)
	w.onSuccess("GET", "/chains", func(listing map[string]any) {
		for _, chain := range listing["items"].([]any) {
			if chain := chain.(map[string]any); chain["code"] != "base" {
				for _, token := range chain["tokens"].([]any) {
					token.(map[string]any)["decimals"] = 1
				}
			}
		}
	})
	chains, err := w.account.Chains.Live(t.Context())
	require.NoError(t, err)
	require.Greater(t, len(chains), 1)
	w.asked.Amount = amount("5.25")
	_, err = w.pay()
	require.NoError(t, err)
}

// An amount is held to what the listing says, once it is known. Before that, and for a token that is not in it, the
// service decides.
// Rule: error.amount-precision
func TestAmountsAreHeldToTheDecimalsOfTheirToken(t *testing.T) {
	w := newPayWorld(t)
	book := func(asset dapi.Asset, value string) error {
		asked := w.asked
		asked.Currency, asked.Amount = asset, amount(value)
		_, err := w.account.Payouts.Book(t.Context(), asked)
		return err
	}
	said := as[*errors.ValidationFailed](t, book(dapi.USDC, "1.0000001"))
	assert.Equal(t, "amount_precision", said.Fields[0].Code)
	require.ErrorContains(t, said, "amount (amount_precision): The currency has 6 decimals")
	assert.Zero(t, w.Sent("ListChains"), "a payment does not wait for the listing")

	_, err := w.account.Chains.Live(t.Context())
	require.NoError(t, err)
	sent := w.Sent("BookPayout")
	refused := as[*errors.InvalidInput](t, book(dapi.USDC, "1.0000001"))
	assert.Equal(t,
		[]errors.Field{{Field: "amount", Code: "amount_precision",
			Message: "has 7 decimals, but USDC allows at most 6"}},
		refused.Fields)
	_, err = w.account.Payouts.Pay(t.Context(),
		dapi.PayoutCreate{ContactID: w.asked.ContactID, Amount: amount("1.0000001"), Currency: dapi.USDC}, "fine",
		dapi.PayTerms{})
	assert.Equal(t, refused.Fields, as[*errors.InvalidInput](t, err).Fields)
	_, err = w.account.Escrows.Create(t.Context(), dapi.EscrowCreate{Payee: payee, Amount: amount("1.0000001"),
		Currency: dapi.USDC})
	assert.Equal(t, refused.Fields, as[*errors.InvalidInput](t, err).Fields)
	_, err = w.account.Sandbox.Deposit(t.Context(),
		dapi.DepositCreate{Amount: amount("1.0000001"), Currency: dapi.USDC})
	assert.Equal(t, refused.Fields, as[*errors.InvalidInput](t, err).Fields)
	assert.Equal(t, sent, w.Sent("BookPayout"))

	said = as[*errors.ValidationFailed](t, book("DAI", "1.0000001"))
	assert.Equal(t, "currency", said.Fields[0].Field)
	assert.Equal(t, 1, w.Sent("ListChains"))
}

// Payments ask for the listing, which must not walk without end.
func TestAListingWithoutEndIsGivenUp(t *testing.T) {
	w := newPayWorld(t)
	pages := 0
	w.Wire.OnAnswer(func(r *http.Request, answer *http.Response) {
		if strings.HasSuffix(r.URL.Path, "/chains") {
			pages++
			inprocess.SetBody(answer, fmt.Appendf(nil, `{"items":[],"nextCursor":"page-%d"}`, pages))
			answer.StatusCode = http.StatusOK
		}
	})
	_, err := w.account.Chains.Live(t.Context())
	endless := as[*errors.UnexpectedResponse](t, err)
	assert.Equal(t, "ListChains", endless.Operation)
	assert.Empty(t, endless.IdempotencyKey)
	assert.Equal(t, 10, pages)
}
