package contract_test

import (
	"time"

	"github.com/stretchr/testify/assert"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/appapi"
	"github.com/moneymovement/moneymovement-go/refapi"
)

// walkReference calls what of the reference endpoints and the public utilities the other walks did not.
func (w *world) walkReference() {
	ctx := w.Context()
	invoice := ok(w.app.Invoices.Create(ctx, appapi.InvoiceCreate{Currency: moneymovement.InvoiceCurrencyUSD, ClientEmail: "dora@example.com", Items: w.lines()}))(w)
	paid := moneymovement.InvoiceUpdate{Status: moneymovement.InvoiceStatusPaid, OnchainTransactionID: "ref-1"}
	assert.Equal(w, "ref-1", ok(w.reference.Invoices.Update(ctx, invoice.ID, paid))(w).OnchainTransactionID)
	ok(w.reference.Invoices.UpdateOnInvoicesPath(ctx, invoice.ID, paid))(w)
	assert.NotEmpty(w, ok(w.reference.Products.List(ctx, refapi.ListMerchantProductsParams{}))(w))
	signature := ok(w.host.Credentials().Wallet.SignMessage(ctx, []byte("Log in")))(w)
	assert.NotEmpty(w, ok(w.reference.Wallet.LogIn(ctx, refapi.WalletLogin{Message: "Log in", Signatures: []string{signature}}, refapi.LogInWalletParams{}))(w).Status)
	assert.True(w, ok(w.reference.Webhooks.Send(ctx, "partner", refapi.WebhookEvent{
		EventType: "payment.completed", EntityID: invoice.ID, EntityType: "invoice", CreatedAt: w.host.Now().Format(time.RFC3339),
	}))(w))
	assert.True(w, ok(w.public.Rates.Get(ctx, "EUR"))(w).USDRate.IsPositive())
}
