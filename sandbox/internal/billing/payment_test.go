package billing_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/commonapi"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/refuse"
)

func paid(reference string, at time.Time) commonapi.InvoiceUpdate {
	return commonapi.InvoiceUpdate{Status: commonapi.InvoiceStatusPaid, OnchainTransactionID: reference, PaidAt: at}
}

func TestPaidOfflineHasNoTransactionAndIsPaidNow(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	id := o.invoice().ID
	o.clock.Advance(time.Hour)
	first, err := o.update(id, paid("", time.Time{}))
	require.NoError(t, err)
	assert.Equal(t, commonapi.InvoiceStatusPaid, first.Status)
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
	require.ErrorIs(t, err, refuse.Conflict(""))
	_, err = o.update(one, commonapi.InvoiceUpdate{Status: "client_paid"})
	require.NoError(t, err)
	_, err = o.update(two, paid("wire 42", time.Time{}))
	require.NoError(t, err, "the reference is free again")
}

func TestOtherStatesForgetThePayment(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	id := o.invoice().ID
	for _, status := range []commonapi.InvoiceStatus{"draft", "sent", "cancelled", "client_paid", "client_declined"} {
		_, err := o.update(id, paid("ref", time.Time{}))
		require.NoError(t, err)
		moved, err := o.update(id, commonapi.InvoiceUpdate{Status: status})
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
		body commonapi.InvoiceUpdate
		want map[string]string
	}{
		"in the future":     {paid("", start.Add(time.Second)), map[string]string{"paidAt": "less_than_equal"}},
		"time, not paid":    {commonapi.InvoiceUpdate{Status: "sent", PaidAt: start}, map[string]string{"paidAt": "value_error"}},
		"reference, unpaid": {commonapi.InvoiceUpdate{Status: "sent", OnchainTransactionID: "x"}, map[string]string{"onchainTransactionId": "value_error"}},
	} {
		_, err := o.update(id, c.body)
		assert.Equal(t, c.want, fields(t, err), name)
	}
	_, err := o.UpdateInvoice(as(eve), id, paid("", time.Time{}))
	require.ErrorIs(t, err, refuse.NotFound())
}

func TestPaymentByTransfer(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	id := o.invoice().ID
	amount, currency, err := o.PayableBy(id)
	require.NoError(t, err)
	assert.Equal(t, "100", amount.String())
	assert.Equal(t, "EUR", currency)
	assert.Equal(t, ada, o.PayeeOf(id))
	assert.Empty(t, o.PayeeOf("nowhere"))
	require.NoError(t, o.MarkPaid(id, "0xabc", start))

	read, err := o.PublicInvoice(id)
	require.NoError(t, err)
	assert.Equal(t, commonapi.InvoiceStatusPaid, read.Status)
	assert.Equal(t, "0xabc", read.Transaction.TxHash)
	assert.Equal(t, start, read.PaidAt)

	_, _, err = o.PayableBy(id)
	require.ErrorIs(t, err, refuse.Conflict(""))
	_, err = o.update(id, commonapi.InvoiceUpdate{Status: "sent"})
	require.ErrorIs(t, err, refuse.Conflict(""), "the money has moved")
	_, err = o.update(id, paid("another", time.Time{}))
	require.ErrorIs(t, err, refuse.Conflict(""))
	again, err := o.update(id, paid("", time.Time{}))
	require.NoError(t, err)
	assert.Equal(t, "0xabc", again.Transaction.TxHash)
	require.ErrorIs(t, o.MarkPaid("nowhere", "0x", start), refuse.NotFound())
	_, _, err = o.PayableBy("nowhere")
	require.ErrorIs(t, err, refuse.NotFound())
}

func TestOnlySentInvoicesArePayable(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	id := o.invoice().ID
	for status, want := range map[commonapi.InvoiceStatus]error{
		"sent": nil, "cancelled": refuse.Conflict(""), "client_declined": refuse.Conflict(""), "client_paid": refuse.Conflict(""), "draft": refuse.NotFound(),
	} {
		_, err := o.update(id, commonapi.InvoiceUpdate{Status: status})
		require.NoError(t, err)
		_, _, err = o.PayableBy(id)
		assert.ErrorIs(t, err, want, status)
	}
}

func TestDraftsAreTheirMakersOwn(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	id := o.invoice().ID
	_, err := o.update(id, commonapi.InvoiceUpdate{Status: "draft"})
	require.NoError(t, err)
	_, err = o.PublicInvoice(id)
	require.ErrorIs(t, err, refuse.NotFound())
	_, err = o.Invoice(as(acme), id)
	require.ErrorIs(t, err, refuse.NotFound())
	_, err = o.RenderInvoice(id, nil)
	require.ErrorIs(t, err, refuse.NotFound())
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
