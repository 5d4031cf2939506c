package paperwork

import (
	"context"
	"time"

	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/commonwire"
)

// The kinds of transactions that pay invoices.
const (
	paidByReference = "external" // a transaction reference that somebody gave
	paidByTransfer  = "transfer" // money of this host
)

// UpdateInvoice moves an invoice to another state. Paid without a transaction reference means paid offline, without a
// linked transaction. paidAt is the time of the payment; without it, that is now.
func (b *Service) UpdateInvoice(
	ctx context.Context, id string, body commonwire.InvoiceUpdate,
) (commonwire.Invoice, error) {
	t := b.begin(ctx)
	defer b.commit()
	invoice, err := t.invoice(id)
	if err != nil {
		return commonwire.Invoice{}, err
	}
	switch {
	case body.Status != commonwire.InvoiceStatusCancelled && invoice.replaced():
		err = wire.Conflict("The invoice was cancelled, and its period has a new invoice.")
	case invoice.Transferred && body.Status != commonwire.InvoiceStatusPaid:
		err = wire.Conflict("The invoice was paid by a transfer.")
	case isPayment(body.Status):
		err = t.payByHand(invoice, body)
	default:
		err = t.moveUnpaid(invoice, body)
	}
	if err != nil {
		return commonwire.Invoice{}, err
	}
	t.invoices.Put(invoice.ID, invoice)
	return t.view(invoice), nil
}

// isPayment reports the states with a payment: the contractor or the client has reported it.
func isPayment(status commonwire.InvoiceStatus) bool {
	return status == commonwire.InvoiceStatusPaid || status == commonwire.InvoiceStatusClientPaid
}

// payByHand records a payment outside of the host, reported by either party, or adds to its details.
func (t *txn) payByHand(i *invoice, body commonwire.InvoiceUpdate) error {
	reference, paidAt := wire.Value(body.OnchainTransactionID), wire.Value(body.PaidAt) // "" if it is null or missing
	relinked := body.OnchainTransactionID.IsSpecified()
	owner := t.references[reference]
	switch {
	case paidAt.Truncate(precision).After(t.now): // now is truncated, so paidAt must be truncated as well
		return wire.InvalidField("paidAt", "less_than_equal", "paidAt must not be in the future.")
	case owner != nil && owner != i:
		return wire.Conflict("The transaction reference belongs to another invoice.")
	case i.Transferred && relinked && reference != i.Reference:
		return wire.Conflict("The invoice is linked to the transfer that paid it.")
	}
	if i.Status != body.Status {
		t.forgetPayment(i)
		if body.Status == commonwire.InvoiceStatusPaid {
			i.PaidAt = t.now
		}
	}
	if !paidAt.IsZero() {
		i.PaidAt = paidAt.UTC()
	}
	if relinked && !i.Transferred {
		t.link(i, reference)
	}
	i.Status, i.UpdatedAt = body.Status, t.now
	return nil
}

// moveUnpaid sets a state without a payment, and deletes a payment that was reported by hand.
func (t *txn) moveUnpaid(i *invoice, body commonwire.InvoiceUpdate) error {
	switch {
	case wire.Value(body.OnchainTransactionID) != "":
		return wire.InvalidField("onchainTransactionId", "value_error", "Only a paid invoice has a transaction.")
	case !wire.Value(body.PaidAt).IsZero():
		return wire.InvalidField("paidAt", "value_error", "Only a paid invoice has a time of payment.")
	}
	t.forgetPayment(i)
	i.Status, i.UpdatedAt = body.Status, t.now
	return nil
}

// forgetPayment deletes a payment that was reported by hand.
func (t *txn) forgetPayment(i *invoice) {
	t.link(i, "")
	i.PaidAt = time.Time{}
}

// link links an invoice to the transaction that paid it. An empty reference links it to none.
func (t *txn) link(i *invoice, reference string) {
	t.refer(i, reference)
	i.Transaction = nil
	if reference == "" {
		return
	}
	at := i.PaidAt
	if at.IsZero() {
		at = t.now
	}
	i.Transaction = &commonwire.InvoiceTransaction{
		OnchainTransactionID: reference, Amount: wire.NumberOf(i.Amount), Type: paidByReference, CreatedAt: at,
	}
}

// refer replaces the transaction reference of an invoice, also by none.
func (t *txn) refer(i *invoice, reference string) {
	if i.Reference != "" {
		delete(t.references, i.Reference)
	}
	if i.Reference = reference; reference != "" {
		t.references[reference] = i
	}
}

// Settle pays an invoice with money of this host, and stores the transfer. The caller only needs the invoice's id. pay
// moves the amount to the account with the contractor's email address, and returns the transfer's hash. If pay refuses,
// the invoice does not change. Settle holds the lock, so nobody can cancel the invoice or pay it again meanwhile. An
// invoice that does not wait for its payment is a conflict.
func (b *Service) Settle(
	id string, pay func(amount decimal.Decimal, currency, payee string) (txHash string, err error),
) error {
	t := b.beginPublic()
	defer b.commit()
	invoice, err := t.publicInvoice(id)
	switch {
	case err != nil:
		return err
	case invoice.Status == commonwire.InvoiceStatusPaid:
		return wire.Conflict("The invoice is paid.")
	case invoice.Status != commonwire.InvoiceStatusSent:
		return wire.Conflict("The invoice is not waiting for a payment.")
	}
	hash, err := pay(invoice.Amount, string(invoice.Currency), invoice.Contractor.Profile.Email)
	if err != nil {
		return err
	}
	t.refer(invoice, hash)
	invoice.Transaction = &commonwire.InvoiceTransaction{
		OnchainTransactionID: hash, Amount: wire.NumberOf(invoice.Amount), TxHash: hash, Type: paidByTransfer,
		CreatedAt: t.now,
	}
	invoice.Status, invoice.Transferred = commonwire.InvoiceStatusPaid, true
	invoice.PaidAt, invoice.UpdatedAt = t.now, t.now
	t.invoices.Put(invoice.ID, invoice)
	return nil
}
