package paperwork_test

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"github.com/oapi-codegen/nullable"
	openapi_types "github.com/oapi-codegen/runtime/types"
	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/appwire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/commonwire"
)

func TestInvoiceAmountIsSumOfLines(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	onchain := true
	created, err := o.CreateInvoice(as(ada), appwire.InvoiceCreate{
		ClientEmail: acme, ClientDisplayName: "Acme", ClientAddress: commonwire.PostalAddress{City: "Oslo"},
		Currency: "EUR", InvoicePrefix: "ADA", Onchain: &onchain,
		Items: []commonwire.LineItem{line("Hours", "1.5", "33.33"), line("Trip", "1", "10")},
	})
	require.NoError(t, err)
	assert.Equal(t, "60", created.Amount.String(), "49.995 is rounded to 50.00")
	assert.Equal(t, commonwire.InvoiceStatusSent, created.Status)
	assert.Equal(t, "ADA-0001", created.InvoiceNumber)
	assert.Equal(t, "2026-03-01", created.IssuedDate.String())
	assert.Equal(t, ada, created.Contractor.Email)
	assert.Equal(t, "Acme", created.Client.DisplayName)
	assert.Equal(t, "Oslo", created.Client.Address.City)
	assert.Nil(t, created.Transaction)

	require.Len(t, created.PaymentMethods, 2)
	wallet, err := created.PaymentMethods[0].AsOnchainAccount()
	require.NoError(t, err)
	assert.Equal(t, "EURC", wallet.Currency)
	account, err := created.PaymentMethods[1].AsEmailAccount()
	require.NoError(t, err)
	assert.Equal(t, ada, account.Email)

	public, err := o.PublicInvoice(created.ID)
	require.NoError(t, err)
	assert.Equal(t, created, public)
	assert.Equal(t, "/public/invoices/"+created.ID, created.InvoiceLink)
}

func TestPartiesOfAnInvoice(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	items := []commonwire.LineItem{line("Work", "1", "1")}
	forMe, err := o.CreateInvoice(as(acme), appwire.InvoiceCreate{ContractorEmail: ada, Currency: "EUR", Items: items})
	require.NoError(t, err)
	assert.Equal(t, acme, forMe.Client.Email)
	_, err = o.Invoice(as(ada), forMe.ID)
	require.NoError(t, err)
	_, err = o.Invoice(as(eve), forMe.ID)
	require.ErrorIs(t, err, wire.NotFound())

	_, err = o.CreateInvoice(as(acme), appwire.InvoiceCreate{Currency: "EUR", Items: items})
	assert.Equal(t, map[string]string{"clientEmail": "missing"}, fields(t, err))
	_, err = o.CreateInvoice(as(acme), appwire.InvoiceCreate{ClientEmail: acme, Currency: "EUR", Items: items})
	assert.Equal(t, map[string]string{"clientEmail": "value_error"}, fields(t, err))
}

func TestInvalidInvoiceLines(t *testing.T) {
	t.Parallel()
	_, err := newOffice(t).CreateInvoice(as(ada),
		appwire.InvoiceCreate{ClientEmail: acme, Currency: "JPY", Items: []commonwire.LineItem{
			line("ok", "1", "1"), line("", "1", "1"), line("fine", "1", "0.5"), line("none", "-1", "1"),
			line("back", "1", "-1"),
			line("huge", "1e10000", "1"),
		}})
	assert.Equal(t, map[string]string{
		"items.1.name": "string_too_short", "items.2.price": "amount_precision",
		"items.3.quantity": "greater_than_equal", "items.4.price": "greater_than_equal",
		"items.5.quantity": "decimal_max_digits",
	}, fields(t, err))
}

func TestInvoicesFromUploadedDocuments(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	stored, err := o.Upload(as(ada), appwire.DocumentUpload{Base64: []byte("x"), Name: "March"})
	require.NoError(t, err)
	body := appwire.UploadedInvoiceCreate{DocumentID: stored.ID, Amount: decimal.NewFromInt(7), Currency: "USD",
		ClientEmail: acme}
	created, err := o.CreateUploadedInvoice(as(ada), body)
	require.NoError(t, err)
	assert.Equal(t, []commonwire.Document{stored}, created.Documents)
	assert.Equal(t, "7", created.Amount.String())

	_, err = o.CreateUploadedInvoice(as(eve), body)
	assert.Equal(t, map[string]string{"documentId": "not_found"}, fields(t, err))
	agreement, err := o.Upload(as(ada), appwire.DocumentUpload{Base64: []byte("x"), Type: "contract",
		Context: "invoice"})
	require.NoError(t, err)
	body.DocumentID, body.Amount = agreement.ID, decimal.Zero
	_, err = o.CreateUploadedInvoice(as(ada), body)
	assert.Equal(t, map[string]string{"documentId": "value_error", "amount": "greater_than"}, fields(t, err))
}

func TestInvoicesOfAContract(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	id := o.contract()
	day := openapi_types.Date{Time: start.Truncate(24 * time.Hour)}
	first, err := o.CreateInvoiceFromContract(as(ada), id, appwire.ContractInvoiceCreate{
		PeriodStart: day, AddItems: []commonwire.LineItem{line("Trip", "1", "20")},
		ContractorAddress: commonwire.PostalAddress{City: "Rome"},
	})
	require.NoError(t, err)
	assert.Equal(t, "120", first.Amount.String())
	assert.Equal(t, 1, first.PeriodNumber)
	assert.Equal(t, "Rome", first.Contractor.Address.City)
	assert.Equal(t, "Service agreement, period from 2026-03-01", first.Items[0].Name)
	require.NotNil(t, first.Contract)
	assert.True(t, first.Contract.IsRecurring)

	_, err = o.CreateInvoiceFromContract(as(ada), id, appwire.ContractInvoiceCreate{PeriodStart: day})
	require.ErrorIs(t, err, wire.Conflict(""))
	_, err = o.update(first.ID, commonwire.InvoiceUpdate{Status: "cancelled"})
	require.NoError(t, err)
	second, err := o.CreateInvoiceFromContract(as(ada), id, appwire.ContractInvoiceCreate{PeriodStart: day})
	require.NoError(t, err)
	assert.Equal(t, 2, second.PeriodNumber)
	_, err = o.update(first.ID, commonwire.InvoiceUpdate{Status: "sent"})
	require.ErrorIs(t, err, wire.Conflict(""), "its period is invoiced anew")

	read, err := o.Contract(as(acme), id)
	require.NoError(t, err)
	assert.Equal(t, second.ID, read.LastInvoice.ID)
	assert.Equal(t, id, read.LastInvoice.ContractID)
}

func TestInvoiceKeepsPaymentMethodsOfItsIssue(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	id := o.contract()
	var sepa commonwire.PaymentMethod
	require.NoError(t, sepa.FromSEPAPaymentMethod(commonwire.SEPAPaymentMethod{IBANNumber: "DE89370400440532013000"}))
	changed, err := o.ReplacePaymentMethods(as(ada), id, []commonwire.PaymentMethod{sepa})
	require.NoError(t, err)
	assert.Len(t, changed.PaymentMethods, 1)
	created, err := o.CreateInvoiceFromContract(as(ada), id, appwire.ContractInvoiceCreate{})
	require.NoError(t, err)
	_, err = o.ReplacePaymentMethods(as(ada), id, nil)
	require.NoError(t, err)

	read, err := o.Invoice(as(ada), created.ID)
	require.NoError(t, err)
	kind, err := read.PaymentMethods[0].Discriminator()
	require.NoError(t, err)
	assert.Equal(t, "sepa", kind)
}

func TestContractWithoutAmountIsInvoicedByLines(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	bare, err := o.CreateContract(as(acme), appwire.ContractCreate{ContractorEmail: ada, Type: "other"})
	require.NoError(t, err)
	o.clock.Advance(time.Minute)
	_, err = o.CreateInvoiceFromContract(as(acme), bare.ID, appwire.ContractInvoiceCreate{})
	assert.Equal(t, map[string]string{"addItems": "missing"}, fields(t, err))
	_, err = o.CreateInvoiceFromContract(as(acme), bare.ID,
		appwire.ContractInvoiceCreate{AddItems: []commonwire.LineItem{line("x", "1", "1")}})
	assert.Equal(t, map[string]string{"addItems": "value_error"}, fields(t, err))
}

func TestInvoiceBatchIsAtomicAndErrorsNameTheRow(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	first, second := o.contract(), o.contract()
	four, zero := 4, 0
	_, err := o.CreateInvoiceBatch(as(acme), appwire.InvoiceBatch{
		{ContractID: first},
		{ContractID: "nowhere"},
		{ContractID: second, Period: &four},
		{ContractID: second, Period: &four},
		{ContractID: second, Period: &zero},
		{ContractID: second, Items: []commonwire.LineItem{line("x", "1", "0.001")}},
	})
	assert.Equal(t, map[string]string{
		"1.contractId": "not_found", "3.period": "conflict", "4.period": "greater_than_equal",
		"5.items.0.price": "amount_precision",
	}, fields(t, err))
	assert.Zero(t, *o.Invoices(as(acme), wire.Page{}).Total, "nothing was issued")

	issued, err := o.CreateInvoiceBatch(as(acme), appwire.InvoiceBatch{
		{ContractID: second, Period: &four, Memo: "April"},
		{ContractID: first},
		{ContractID: second, Items: []commonwire.LineItem{line("Bonus", "1", "5")}},
	})
	require.NoError(t, err)
	require.Len(t, issued.Items, 3)
	assert.Equal(t, 3, *issued.Total)
	assert.Equal(t, "April", issued.Items[0].Comment)
	assert.Equal(t, []int{4, 1, 5}, []int{issued.Items[0].PeriodNumber, issued.Items[1].PeriodNumber,
		issued.Items[2].PeriodNumber})
	assert.Equal(t, "5", issued.Items[2].Amount.String())

	_, err = o.CreateInvoiceBatch(as(acme), appwire.InvoiceBatch{{ContractID: second, Period: &four}})
	assert.Equal(t, map[string]string{"0.period": "conflict"}, fields(t, err))
	_, err = o.update(issued.Items[0].ID, commonwire.InvoiceUpdate{Status: "cancelled"})
	require.NoError(t, err)
	_, err = o.CreateInvoiceBatch(as(acme), appwire.InvoiceBatch{{ContractID: second, Period: &four}})
	require.NoError(t, err, "a cancelled invoice's period is invoiced anew")
	_, err = o.PauseContract(as(acme), first)
	require.NoError(t, err)
	_, err = o.CreateInvoiceBatch(as(acme), appwire.InvoiceBatch{{ContractID: first}})
	assert.Equal(t, map[string]string{"0.contractId": "conflict"}, fields(t, err))
	_, err = o.CreateInvoiceBatch(as(acme), make(appwire.InvoiceBatch, 101))
	assert.Equal(t, map[string]string{"100": "too_long"}, fields(t, err))
}

// paid marks an invoice as paid, with a reference unless it is empty.
func paid(reference string, at time.Time) commonwire.InvoiceUpdate {
	update := commonwire.InvoiceUpdate{Status: commonwire.InvoiceStatusPaid, OnchainTransactionID: referring(reference)}
	if !at.IsZero() {
		update.PaidAt.Set(at)
	}
	return update
}

// referring returns the reference for a body, absent if it is empty.
func referring(reference string) nullable.Nullable[string] {
	if reference == "" {
		return nil
	}
	return nullable.NewNullableWithValue(reference)
}

func TestInvoicePaidOfflineHasNoTransaction(t *testing.T) {
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

func TestTransactionReferenceIsLinkedAndUnique(t *testing.T) {
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

func TestUnpaidStatusClearsPayment(t *testing.T) {
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

func TestInvalidInvoicePayments(t *testing.T) {
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

func TestDraftInvoicesAreVisibleToTheirCreatorOnly(t *testing.T) {
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

func TestRenderInvoice(t *testing.T) {
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
