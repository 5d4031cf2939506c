package dapi_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
)

// Rule: idempotency.other-terms
func TestAKeyReusedForOtherTermsIsNotSent(t *testing.T) {
	w := newPayWorld(t)
	key := moneymovement.IdempotencyKey("invoice-42")
	w.asked.PaymentReference = "12.5"
	booked, err := w.account.Payouts.Book(t.Context(), w.asked, key)
	require.NoError(t, err)

	for name, change := range map[string]func(*dapi.PayoutCreate){
		"amount":           func(p *dapi.PayoutCreate) { p.Amount = amount("24") },
		"contactId":        func(p *dapi.PayoutCreate) { p.ContactID = "ct_nobody" },
		"currency":         func(p *dapi.PayoutCreate) { p.Currency = dapi.EURC },
		"paymentReference": func(p *dapi.PayoutCreate) { p.PaymentReference = "12.50" },
	} {
		other := w.asked
		change(&other)
		_, err = w.account.Payouts.Book(t.Context(), other, key)
		reused := as[*errors.IdempotencyKeyReused](t, err)
		assert.Equal(t, string(booked.ID), reused.PayoutID)
		assert.Equal(t, "invoice-42", reused.IdempotencyKey)
		assert.Zero(t, reused.Status)
		assert.Equal(t, errors.NotMoved, reused.MovedByCall())
		assert.Contains(t, reused.Error(), "("+name+"), so this request was not sent")
	}
	assert.Equal(t, 1, w.Sent("BookPayout"), "the others were not sent")
}

// Rule: idempotency.replay
func TestTheSameTermsInAnotherSpellingAreSent(t *testing.T) {
	w := newPayWorld(t)
	key := moneymovement.IdempotencyKey("invoice-42")
	for i, change := range []func(*dapi.PayoutCreate){
		func(*dapi.PayoutCreate) {},
		func(p *dapi.PayoutCreate) { p.Amount = amount("25.00") },
		func(p *dapi.PayoutCreate) {
			p.ContactID = dapi.ContactID(strings.TrimPrefix(string(p.ContactID), "ct_"))
		},
	} {
		asked := w.asked
		change(&asked)
		_, err := w.account.Payouts.Book(t.Context(), asked, key)
		if _, local := errors.AsType[*errors.InvalidInput](err); local {
			t.Fatal(err)
		}
		assert.Equal(t, i+1, w.Sent("BookPayout"), "the service judges")
	}
}

// Rule: idempotency.other-terms
func TestADealsKeyReusedForOtherTermsIsNotSent(t *testing.T) {
	w := newPayWorld(t)
	key := moneymovement.IdempotencyKey("deal-1")
	terms := dapi.EscrowCreate{Amount: amount("25"), Currency: dapi.USDC,
		Payee: payee, HoldFor: "1d"}
	deal, err := w.account.Escrows.Create(t.Context(), terms, key)
	require.NoError(t, err)
	same := terms
	same.Payee, same.HoldFor = dapi.EVMAddress(strings.ToLower(string(terms.Payee))), "24h"
	again, err := w.account.Escrows.Create(t.Context(), same, key)
	require.NoError(t, err)
	assert.Equal(t, deal.ID, again.ID)

	terms.HoldFor = "2d"
	_, err = w.account.Escrows.Create(t.Context(), terms, key)
	reused := as[*errors.IdempotencyKeyReused](t, err)
	assert.Equal(t, string(deal.ID), reused.EscrowID)
	assert.Zero(t, reused.Status)
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
