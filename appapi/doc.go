// Package appapi is the app API: the key-based API of one app, for profile and verification, contacts, documents,
// invoices, contracts, bank rails and quotes, cards, and transfers.
//
//	app, err := appapi.New(baseURL, appapi.NewAPIKey(os.Getenv("MONEYMOVEMENT_API_KEY")))
//	invoice, err := app.Invoices.Create(ctx, appapi.InvoiceCreate{
//		Currency: model.InvoiceCurrencyUSD, ClientEmail: "client@example.com",
//		Items: []model.LineItem{{Name: "Design", Quantity: hours, Price: price}}, // hours is a model.Number
//	})
//	receipt, err := app.Transfers.Send(ctx, appapi.ToInvoice{InvoiceID: invoice.ID}, moneymovement.DeriveKey("invoice", invoice.ID))
//
// # Key
//
// The key identifies the owning app. It travels as Authorization: Bearer, or as X-Api-Key after [APIKey.InKeyHeader], to the
// client's origin and nowhere else; redirects are not followed. It works on no other surface, and no other surface's
// credential works here. It does not expire by itself: a key that the service refuses is *errors.Unauthenticated.
//
// # Writes
//
// Only a transfer is anchored by its idempotency key, which [Transfers.Send] requires. Of the others, those that set a
// state are tried again after a lost answer, and those that create something are not: [Invoices.Create] and its like
// end as *errors.OutcomeUnknown, and the list tells whether it exists.
//
// # What is assumed
//
// The description shows few bodies and hardly any answers of this surface. What it does not show follows its own style
// and is marked as assumed in openapi/appapi.yaml, from which the types here are generated. Answers are read
// tolerantly, and moneymovement.CaptureResponse keeps them as they came. A request is refused here for what is stated
// alone: what is assumed is sent, and the service judges it.
//
// # Errors
//
// All calls answer the types of package errors: a refusal as its slug's type, *errors.InvalidInput for what is refused
// before anything is sent, *errors.OutcomeUnknown for a write whose answer was lost. The service paces this surface as
// it likes, since no rate windows are stated: a client sends at once, and a *errors.RateLimited that outlasts the
// retries says when to come back.
package appapi
