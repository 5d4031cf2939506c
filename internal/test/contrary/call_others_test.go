package contrary_test

import (
	"io"

	"github.com/moneymovement/moneymovement-go/model"
	"github.com/moneymovement/moneymovement-go/public"
	"github.com/moneymovement/moneymovement-go/refapi"
)

// otherCalls are the reference endpoints and the public utilities.
var otherCalls = map[string]func(*call) (any, error){
	"refapi UpdateInvoice": func(c *call) (any, error) {
		return c.reference.Invoices.Update(c.Context(), c.path["invoice_id"], as[model.InvoiceUpdate](c, c.body),
			c.options()...)
	},
	"refapi UpdateInvoiceOnInvoicesPath": func(c *call) (any, error) {
		return c.reference.Invoices.UpdateOnInvoicesPath(c.Context(), c.path["invoice_id"],
			as[model.InvoiceUpdate](c, c.body), c.options()...)
	},
	"refapi GetContract": func(c *call) (any, error) {
		return c.reference.Contracts.Get(c.Context(), c.path["contract_id"], c.options()...)
	},
	"refapi ListMerchantProducts": func(c *call) (any, error) {
		return c.reference.Products.List(c.Context(), as[refapi.ListMerchantProductsParams](c, c.query), c.options()...)
	},
	"refapi ListCards": func(c *call) (any, error) { return c.reference.Cards.List(c.Context(), c.options()...) },
	"refapi RevealCardDetails": func(c *call) (any, error) {
		return c.reference.Cards.DetailsWithProof(c.Context(), c.path["card_id"], as[model.CardDetailsProof](c, c.body),
			c.options()...)
	},
	"refapi GetTransactionStatus": func(c *call) (any, error) {
		return c.reference.Quotes.Status(c.Context(), c.path["quote_id"], c.options()...)
	},
	"refapi LogInWallet": func(c *call) (any, error) {
		return c.reference.Wallet.LogIn(c.Context(), as[refapi.WalletLogin](c, c.body),
			as[refapi.LogInWalletParams](c, c.header), c.options()...)
	},
	"refapi ReceiveWebhook": func(c *call) (any, error) {
		ok, err := c.reference.Webhooks.Send(c.Context(), c.path["partner"], as[refapi.WebhookEvent](c, c.body),
			c.options()...)
		return map[string]any{"ok": ok}, err
	},
	"public GetRate": func(c *call) (any, error) {
		return c.public.Rates.Get(c.Context(), c.path["currency"], c.options()...)
	},
	"public GetInvoice": func(c *call) (any, error) {
		return c.public.Invoices.Get(c.Context(), c.path["invoice_id"], c.options()...)
	},
	"public RenderInvoicePDF": func(c *call) (any, error) {
		copied, err := c.public.Invoices.PDF(c.Context(), c.path["id"], as[public.RenderInvoicePDFParams](c, c.query),
			c.options()...)
		if err != nil {
			return nil, err
		}
		defer copied.Close()
		content, err := io.ReadAll(copied)
		return map[string]any{"content": string(content)}, err
	},
}
