package dapi_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
)

// Rule: idempotency.other-terms
func TestAKeyReusedForOtherTermsIsNotSent(t *testing.T) {
	w := newPayWorld(t)
	key := moneymovement.IdempotencyKey("invoice-42")
	_, err := w.account.Payouts.Book(t.Context(), w.asked, key)
	require.NoError(t, err)

	other := w.asked
	other.Amount = amount("24")
	_, err = w.account.Payouts.Book(t.Context(), other, key)
	refused := as[*errors.InvalidInput](t, err)
	require.Len(t, refused.Fields, 1)
	assert.Equal(t, "Idempotency-Key", refused.Fields[0].Field)
	assert.Equal(t, "idempotency_key_reused", refused.Fields[0].Code)
	assert.Equal(t, 1, w.sent("BookPayout"), "the second was not sent")

	again := w.asked
	again.Amount = amount("25.00")
	_, err = w.account.Payouts.Book(t.Context(), again, key)
	require.NoError(t, err, "25.00 is 25")
	assert.Equal(t, 2, w.sent("BookPayout"))
}

func TestAKeyIsFreeForCorrectedTermsAfterARefusal(t *testing.T) {
	w := newPayWorld(t)
	key := moneymovement.IdempotencyKey("invoice-42")
	wrong := w.asked
	wrong.ContactID = "ct_nobody"
	_, err := w.account.Payouts.Book(t.Context(), wrong, key)
	as[*errors.NotFound](t, err)

	_, err = w.account.Payouts.Book(t.Context(), w.asked, key)
	require.NoError(t, err)
}

// Rule: idempotency.scope
func TestAKeyMeansSomethingElseInAnotherAccount(t *testing.T) {
	w := newPayWorld(t)
	key := moneymovement.IdempotencyKey("invoice-42")
	platform := w.integrator()
	_, err := platform.Self().Payouts.Book(t.Context(), w.asked, key)
	require.NoError(t, err)

	other := w.asked
	other.Amount = amount("24")
	_, err = platform.For("cl_other").Payouts.Book(t.Context(), other, key)
	as[*errors.NotFound](t, err)
}
