// Package appapi calls the app API: the API of one app, with an app API key.
//
//   - [Account]: the owner's profile, verification and balances
//   - [Contacts]: saved payment destinations
//   - [Documents]: files of invoices and contracts
//   - [Invoices]: requests for payment
//   - [Contracts]: agreements that invoices are issued under
//   - [Transactions]: movements of the account's money
//   - [Banks]: bank rails, and the bank accounts on them
//   - [Quotes]: prices, each for one payment
//   - [Cards]: payment cards
//   - [Transfers]: payments to contacts, quotes and invoices
//
// [New] makes a client from the service's address and an [APIKey]:
//
//	app, err := appapi.New("https://host.example", appapi.NewAPIKey(os.Getenv("MONEYMOVEMENT_API_KEY")))
//	invoice, err := app.Invoices.Create(ctx, appapi.InvoiceCreate{
//		Currency: model.InvoiceCurrencyUSD, ClientEmail: "client@example.com",
//		Items: []model.LineItem{{Name: "Design", Quantity: hours, Price: price}}, // hours is a model.Number
//	})
//	receipt, err := app.Transfers.Send(ctx, appapi.ToInvoice{InvoiceID: invoice.ID},
//		moneymovement.DeriveKey("invoice", invoice.ID))
//
// The examples below play recorded responses: in your program, server.URL is the service's address, and server.APIKey
// the key of your app.
//
// Words such as rail, requisites and client are explained in the [glossary].
//
// # Key
//
// The key identifies the app that owns it. It is sent to the client's address and nowhere else, as Authorization:
// Bearer, or as X-Api-Key after [APIKey.InKeyHeader]. The client follows no redirects. The key works on no other
// surface, and the credentials of other surfaces do not work here.
//
// The description does not show how a key is issued, and states no expiry. A key that the service does not accept fails
// with *errors.Unauthenticated.
//
// # Writes
//
// Only a transfer has an idempotency key that the service knows. [Transfers.Send] requires it, and pays once for each
// key.
//
// The other writes are of two kinds. A write that sets a state, such as [Cards.Freeze], is tried again after a lost
// response. A write that creates something, such as [Invoices.Create], is never sent twice. If its response is lost, it
// fails with *errors.OutcomeUnknown: look in the list whether it exists.
//
// # What is assumed
//
// The service's description shows few request bodies of this surface and hardly any responses. The SDK assumes the rest
// in the description's own style; openapi/appapi.yaml marks each assumption. A response that differs is still read as
// far as possible, and [moneymovement.CaptureResponse] returns its body as it came. The SDK refuses a request only for
// rules that the description states. The service decides about the rest.
//
// # Errors
//
// A refused call fails with the type of the refusal in package errors, such as *errors.NotFound. Bad input fails with
// *errors.InvalidInput before anything is sent. A write whose response was lost fails with *errors.OutcomeUnknown.
//
// The description states no rate limits for this surface, so the client sends at once. A call over a limit is tried
// again. If that does not help, it fails with *errors.RateLimited, which says when to try again.
//
// [glossary]: https://github.com/moneymovement/moneymovement-go/blob/main/docs/glossary.md
package appapi
