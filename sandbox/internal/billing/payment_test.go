package billing_test

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"github.com/oapi-codegen/nullable"
	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/commonwire"
)

// paid marks an invoice paid; without a reference it says nothing of one.
func paid(reference string, at time.Time) commonwire.InvoiceUpdate {
	update := commonwire.InvoiceUpdate{Status: commonwire.InvoiceStatusPaid, OnchainTransactionID: referring(reference)}
	if !at.IsZero() {
		update.PaidAt.Set(at)
	}
	return update
}

// referring is a reference as a body has it; an empty one is absent.
func referring(reference string) nullable.Nullable[string] {
	if reference == "" {
		return nil
	}
	return nullable.NewNullableWithValue(reference)
}

func TestPaidOfflineHasNoTransactionAndIsPaidNow(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	id := o.invoice().ID
	o.clock.Advance(time.Hour)
	first, err := o.update(id, paid("", time.Time{}))
	require.NoError(t, err)
	assert.Equal(t, commonwire.InvoiceStatusPaid, first.Status)
	assert.Equal(t, start.Add(time.Hour), first.PaidAt)
	assert.Nil(t, first.Transaction)
	assert.Empty(t, first.OnchainTransactionID)

	o.clock.Advance(time.Hour)
	again, err := o.update(id, paid("", time.Time{}))
	require.NoError(t, err)
	assert.Equal(t, first.PaidAt, again.PaidAt, "a repeat keeps the time")
	backdated, err := o.update(id, paid("", start.Add(-time.Hour)))
	require.NoError(t, err)
	assert.Equal(t, start.Add(-time.Hour), backdated.PaidAt)
}

func TestATransactionReferenceIsAttachedAndUnique(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	one, two := o.invoice().ID, o.invoice().ID
	linked, err := o.update(one, paid("wire 42", start.Add(-24*time.Hour)))
	require.NoError(t, err)
	assert.Equal(t, "wire 42", linked.OnchainTransactionID)
	require.NotNil(t, linked.Transaction)
	assert.Equal(t, "wire 42", linked.Transaction.OnchainTransactionID)
	assert.Equal(t, "100", linked.Transaction.Amount.String())
	assert.Equal(t, start.Add(-24*time.Hour), linked.Transaction.CreatedAt)
	repeat, err := o.update(one, paid("wire 42", time.Time{}))
	require.NoError(t, err)
	assert.Equal(t, linked.PaidAt, repeat.PaidAt)

	_, err = o.update(two, paid("wire 42", time.Time{}))
	require.ErrorIs(t, err, wire.Conflict(""))
	_, err = o.update(one, commonwire.InvoiceUpdate{Status: "client_paid"})
	require.NoError(t, err)
	_, err = o.update(two, paid("wire 42", time.Time{}))
	require.NoError(t, err, "the reference is free again")
}

func TestOtherStatesForgetThePayment(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	id := o.invoice().ID
	for _, status := range []commonwire.InvoiceStatus{"draft", "sent", "cancelled", "client_paid", "client_declined"} {
		_, err := o.update(id, paid("ref", time.Time{}))
		require.NoError(t, err)
		moved, err := o.update(id, commonwire.InvoiceUpdate{Status: status})
		require.NoError(t, err)
		assert.Equal(t, status, moved.Status)
		assert.Zero(t, moved.PaidAt)
		assert.Nil(t, moved.Transaction)
	}
}

func TestPaymentsThatMakeNoSense(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	id := o.invoice().ID
	for name, c := range map[string]struct {
		body commonwire.InvoiceUpdate
		want map[string]string
	}{
		"in the future": {paid("", start.Add(time.Second)), map[string]string{"paidAt": "less_than_equal"}},
		"time, not paid": {commonwire.InvoiceUpdate{Status: "sent", PaidAt: nullable.NewNullableWithValue(start)},
			map[string]string{"paidAt": "value_error"}},
		"reference, unpaid": {commonwire.InvoiceUpdate{Status: "sent",
			OnchainTransactionID: nullable.NewNullableWithValue("x")},
			map[string]string{"onchainTransactionId": "value_error"}},
	} {
		_, err := o.update(id, c.body)
		assert.Equal(t, c.want, fields(t, err), name)
	}
	_, err := o.UpdateInvoice(as(eve), id, paid("", time.Time{}))
	require.ErrorIs(t, err, wire.NotFound())
}

func TestPaymentByTransfer(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	id := o.invoice().ID
	broke := errors.New("no money")
	require.ErrorIs(t, o.Settle(id, func(decimal.Decimal, string, string) (string, error) { return "0xdef", broke }),
		broke)
	unpaid, err := o.PublicInvoice(id)
	require.NoError(t, err)
	assert.Equal(t, commonwire.InvoiceStatusSent, unpaid.Status)
	assert.Nil(t, unpaid.Transaction)

	o.clock.Advance(time.Hour)
	require.NoError(t, o.Settle(id, func(amount decimal.Decimal, currency, payee string) (string, error) {
		assert.Equal(t, "100 EUR "+ada, amount.String()+" "+currency+" "+payee)
		return "0xabc", nil
	}))
	read, err := o.PublicInvoice(id)
	require.NoError(t, err)
	assert.Equal(t, commonwire.InvoiceStatusPaid, read.Status)
	assert.Equal(t, "0xabc", read.Transaction.TxHash)
	assert.Equal(t, start.Add(time.Hour), read.PaidAt)

	require.ErrorIs(t, o.Settle(id, free), wire.Conflict(""))
	_, err = o.update(id, commonwire.InvoiceUpdate{Status: "sent"})
	require.ErrorIs(t, err, wire.Conflict(""), "the money has moved")
	_, err = o.update(id, paid("another", time.Time{}))
	require.ErrorIs(t, err, wire.Conflict(""))
	again, err := o.update(id, paid("", time.Time{}))
	require.NoError(t, err)
	assert.Equal(t, "0xabc", again.Transaction.TxHash)
	require.ErrorIs(t, o.Settle("nowhere", free), wire.NotFound())
}

// free pays without money.
func free(decimal.Decimal, string, string) (string, error) { return "0xfree", nil }

func TestOnlySentInvoicesArePayable(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	for status, want := range map[commonwire.InvoiceStatus]error{
		"sent": nil, "paid": wire.Conflict(""), "cancelled": wire.Conflict(""),
		"client_declined": wire.Conflict(""),
		"client_paid":     wire.Conflict(""), "draft": wire.NotFound(),
	} {
		id := o.invoice().ID
		_, err := o.update(id, commonwire.InvoiceUpdate{Status: status})
		require.NoError(t, err)
		assert.ErrorIs(t, o.Settle(id, free), want, status)
	}
}

func TestDraftsAreTheirMakersOwn(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	id := o.invoice().ID
	_, err := o.update(id, commonwire.InvoiceUpdate{Status: "draft"})
	require.NoError(t, err)
	_, err = o.PublicInvoice(id)
	require.ErrorIs(t, err, wire.NotFound())
	_, err = o.Invoice(as(acme), id)
	require.ErrorIs(t, err, wire.NotFound())
	_, err = o.RenderInvoice(id, nil)
	require.ErrorIs(t, err, wire.NotFound())
}

func TestCopies(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	id := o.invoice().ID
	plain, err := o.RenderInvoice(id, nil)
	require.NoError(t, err)
	assert.True(t, bytes.HasPrefix(plain, []byte("%PDF-")))
	o.clock.Advance(time.Hour)
	again, err := o.RenderInvoice(id, nil)
	require.NoError(t, err)
	assert.Equal(t, plain, again, "the same invoice is the same file")

	first, beyond, negative := 0, 1, -1
	detailed, err := o.RenderInvoice(id, &first)
	require.NoError(t, err)
	assert.NotEqual(t, plain, detailed)
	for _, index := range []*int{&beyond, &negative} {
		_, err = o.RenderInvoice(id, index)
		assert.Equal(t, map[string]string{"details": "index_out_of_range"}, fields(t, err))
	}
}
