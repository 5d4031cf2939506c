package contract_test

import (
	"io"
	"net/http"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/contract/report"
	"github.com/moneymovement/moneymovement-go/model"
	"github.com/moneymovement/moneymovement-go/public"
	"github.com/moneymovement/moneymovement-go/refapi"
)

// referenceEndpoints look at what the app API made.
func (w *world) referenceEndpoints() {
	reference := w.reference
	w.step("cards", func() { ok(reference.Cards.List(w.Context()))(w) })
	w.step("products", func() {
		ok(reference.Products.List(w.Context(), refapi.ListMerchantProductsParams{ActiveOnly: new(false)}))(w)
	})
	w.step("contract", func() {
		w.needs(w.contract != "", "a contract of the app API")
		assert.Equal(w, w.contract, ok(reference.Contracts.Get(w.Context(), w.contract))(w).ID)
	})
	w.step("invoice, on both paths", func() {
		w.needs(w.invoice != "", "an invoice of the app API")
		paid := model.InvoiceUpdate{Status: model.InvoiceStatusPaid,
			OnchainTransactionID: model.Set(w.unique("reference")), PaidAt: model.Set(time.Now().Add(-time.Hour))}
		ok(reference.Invoices.Update(w.Context(), w.invoice, paid))(w)
		ok(reference.Invoices.UpdateOnInvoicesPath(w.Context(), w.invoice, paid))(w)
	})
	w.step("an invoice update by hand", func() {
		w.needs(w.invoice != "", "an invoice of the app API")
		for _, x := range w.suite.log.Exchanges() {
			if x.Name() == "refapi UpdateInvoice" && x.Accepted() {
				refused := w.deliver(x.Again(w.Context(), report.Change{Body: []byte(`{"status":"lost"}`)}))
				assert.Equal(w, http.StatusUnprocessableEntity, refused.Status)
				paidNow := w.deliver(x.Again(w.Context(),
					report.Change{Body: []byte(`{"status":"paid","paidAt":null}`)}))
				assert.Equal(w, http.StatusOK, paidNow.Status)
				return
			}
		}
	})
	w.step("status of a quote", func() {
		w.needs(w.quote != "", "a quote of the app API")
		assert.Equal(w, w.quote, ok(reference.Quotes.Status(w.Context(), w.quote))(w).QuoteID)
	})
	w.step("card details", func() {
		w.needs(w.wallet != nil && w.card != "", "a card and its wallet")
		w.pass() // a nonce is used once, on whichever surface
		assert.NotEmpty(w, ok(reference.Cards.Details(w.Context(), w.card, w.wallet))(w).CardNumber)
	})
	w.embedded("wallet login", func() { // may send an operation on chain
		signature, err := w.wallet.SignMessage(w.Context(), []byte("Log in"))
		require.NoError(w, err)
		ok(reference.Wallet.LogIn(w.Context(),
			refapi.WalletLogin{Message: "Log in",
				Signatures: []moneymovement.Secret{moneymovement.NewSecret(signature)}},
			refapi.LogInWalletParams{DeviceID: "contract-suite"}))(w)
	})
	w.embedded("a partner's webhook", func() { // is somebody else's to send
		assert.True(w, ok(reference.Webhooks.Send(w.Context(), "partner", refapi.WebhookEvent{
			EventType: "payment.completed", EntityID: "1", EntityType: "invoice", CreatedAt: w.host.Now().
					Format(time.RFC3339),
			EventPayload: model.OpenObject{"state": "done"},
		}))(w))
	})
}

func (w *world) publicUtilities() {
	w.step("rates", func() { assert.True(w, ok(w.public.Rates.Get(w.Context(), "EUR"))(w).USDRate.IsPositive()) })
	w.step("an invoice, and its copy", func() {
		w.needs(w.invoice != "", "an invoice of the app API")
		ok(w.public.Invoices.Get(w.Context(), w.invoice))(w)
		pdf := ok(w.public.Invoices.PDF(w.Context(), w.invoice, public.RenderInvoicePDFParams{}))(w)
		defer pdf.Close()
		start := make([]byte, 5)
		_, err := io.ReadFull(pdf, start)
		require.NoError(w, err)
		assert.Equal(w, "%PDF-", string(start))
	})
}
