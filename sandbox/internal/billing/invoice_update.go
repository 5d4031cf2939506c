package billing

import (
	"cmp"
	"context"
	"time"

	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/commonapi"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/number"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/refuse"
)

// The kinds of transactions that pay invoices.
const (
	paidByReference = "external" // a transaction that somebody refers to
	paidByTransfer  = "transfer" // money of this host
)

// UpdateInvoice moves an invoice to another state. Paid without a transaction reference is paid offline, with no linked
// transaction; paidAt backdates the payment, which is now otherwise. Source: States and transitions, Invoice.
func (b *Billing) UpdateInvoice(ctx context.Context, id string, body commonapi.InvoiceUpdate) (commonapi.Invoice, error) {
	t := b.enter(ctx)
	defer b.leave()
	found, err := t.invoice(id)
	if err != nil {
		return commonapi.Invoice{}, err
	}
	switch {
	case body.Status != commonapi.InvoiceStatusCancelled && found.replaced():
		err = refuse.Conflict("The invoice was cancelled, and its period is invoiced anew.")
	case body.Status == commonapi.InvoiceStatusPaid:
		err = t.payByHand(found, body)
	default:
		err = t.moveUnpaid(found, body)
	}
	if err != nil {
		return commonapi.Invoice{}, err
	}
	return t.view(found), nil
}

// payByHand marks an invoice paid, or adds to what is known of its payment.
func (t *turn) payByHand(i *invoice, body commonapi.InvoiceUpdate) error {
	owner := t.references[body.OnchainTransactionID]
	switch {
	case body.PaidAt.After(t.now):
		return refuse.InvalidField("paidAt", "less_than_equal", "A payment is not dated in the future.")
	case owner != nil && owner != i:
		return refuse.Conflict("The transaction reference belongs to another invoice.")
	case i.transferred && cmp.Or(body.OnchainTransactionID, i.reference) != i.reference:
		return refuse.Conflict("The invoice is linked to the transfer that paid it.")
	}
	if i.status != commonapi.InvoiceStatusPaid {
		i.paidAt = t.now
	}
	if !body.PaidAt.IsZero() {
		i.paidAt = body.PaidAt.UTC()
	}
	if body.OnchainTransactionID != "" && !i.transferred {
		t.refer(i, body.OnchainTransactionID)
		i.transaction = &commonapi.InvoiceTransaction{
			OnchainTransactionID: i.reference, Amount: number.Of(i.amount), Type: paidByReference, CreatedAt: i.paidAt,
		}
	}
	i.status, i.updatedAt = commonapi.InvoiceStatusPaid, t.now
	return nil
}

// moveUnpaid gives an invoice a state other than paid, and forgets a payment by hand.
func (t *turn) moveUnpaid(i *invoice, body commonapi.InvoiceUpdate) error {
	switch {
	case body.OnchainTransactionID != "":
		return refuse.InvalidField("onchainTransactionId", "value_error", "Only a paid invoice has a transaction.")
	case !body.PaidAt.IsZero():
		return refuse.InvalidField("paidAt", "value_error", "Only a paid invoice has a time of payment.")
	case i.transferred:
		return refuse.Conflict("The invoice was paid by a transfer.")
	}
	t.refer(i, "")
	i.transaction, i.paidAt = nil, time.Time{}
	i.status, i.updatedAt = body.Status, t.now
	return nil
}

// refer links an invoice to a transaction reference, or to none, in place of the one before.
func (t *turn) refer(i *invoice, reference string) {
	if i.reference != "" {
		delete(t.references, i.reference)
	}
	if i.reference = reference; reference != "" {
		t.references[reference] = i
	}
}

// PayableBy answers what pays an invoice, to whoever knows its id. One that does not wait for its payment is a conflict.
// Source: App API, Transfers.
func (b *Billing) PayableBy(id string) (amount decimal.Decimal, currency string, err error) {
	t := b.enterPublic()
	defer b.leave()
	found, err := t.publicInvoice(id)
	switch {
	case err != nil:
		return decimal.Decimal{}, "", err
	case found.status == commonapi.InvoiceStatusPaid:
		return decimal.Decimal{}, "", refuse.Conflict("The invoice is paid.")
	case found.status != commonapi.InvoiceStatusSent:
		return decimal.Decimal{}, "", refuse.Conflict("The invoice does not wait for its payment.")
	}
	return found.amount, string(found.currency), nil
}

// PayeeOf is the email address of an invoice's contractor, or nothing for an unknown id.
func (b *Billing) PayeeOf(id string) string {
	t := b.enterPublic()
	defer b.leave()
	if found, ok := t.invoices[id]; ok {
		return found.contractor.profile.Email
	}
	return ""
}

// MarkPaid enters the transfer that paid an invoice. The money has moved, so it does so in whatever state the invoice is
// by then; only an unknown id is refused. Source: App API, Transfers; States and transitions, Invoice.
func (b *Billing) MarkPaid(id, txHash string, at time.Time) error {
	t := b.enterPublic()
	defer b.leave()
	found, ok := t.invoices[id]
	if !ok {
		return refuse.NotFound()
	}
	t.refer(found, txHash)
	found.transaction = &commonapi.InvoiceTransaction{
		OnchainTransactionID: txHash, Amount: number.Of(found.amount), TxHash: txHash, Type: paidByTransfer, CreatedAt: at,
	}
	found.status, found.paidAt, found.transferred, found.updatedAt = commonapi.InvoiceStatusPaid, at, true, t.now
	return nil
}
