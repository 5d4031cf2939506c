// Package appapi calls the app API of the service. Its credential is an app API key. The key belongs to an app, and
// acts for the account of the app's owner.
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
//		moneymovement.DeriveKey("invoice", invoice.ID, attempt))
//
// The [glossary] explains words such as rail, requisites and transfer. In invoices and contracts, the client is the
// party that pays, and the contractor is the party that is paid.
//
// # Key
//
// The key identifies the app that owns it. It is sent to the address that [New] was given and nowhere else, as
// Authorization: Bearer, or as X-Api-Key after [APIKey.InKeyHeader]. A [Client] follows no redirects. The key works on
// no other surface, and the credentials of other surfaces do not work here.
//
// The service's description does not show how a key is issued, and states no expiry. If the service does not accept the
// key, calls fail with *errors.Unauthenticated.
//
// # Writes
//
// Of all writes of this surface, only a transfer takes an idempotency key. [Transfers.Send] requires it, and pays once
// for each key.
//
// The other writes are of two kinds. A write that has the same effect when it is sent twice, such as [Cards.Freeze] or
// [Contacts.Create], is tried again after a lost response. A write that could create a second thing, such as
// [Invoices.Create], is never sent twice. If its response is lost, it fails with *errors.InDoubt: list the
// invoices to see whether this one exists.
//
// The pages for [invoices] and [cards] show the steps, and what can go wrong.
//
// # What is assumed
//
// The SDK follows a description of the service. The description shows few request bodies of this surface and hardly any
// responses. The SDK assumes the rest, and openapi/appapi.yaml marks each assumption with x-assumed. A response that
// differs is still read as far as possible, and [moneymovement.CaptureResponse] returns its body as it came. The SDK
// checks a request only against rules that the description states. The service checks the rest.
//
// # Errors
//
// A refused call fails with the type of the refusal in package errors, such as *errors.NotFound. Bad input fails with
// *errors.InvalidInput before anything is sent. A write whose response was lost fails with *errors.InDoubt.
//
// The description states no rate limits for this surface, so the client does not limit its own rate. If the service
// refuses a call as over a limit, the client waits and tries again. If that does not help, it fails with
// *errors.RateLimited, which says when to try again.
//
// [invoices]: https://github.com/moneymovement/moneymovement-go/blob/main/docs/flows/invoice.md
// [cards]: https://github.com/moneymovement/moneymovement-go/blob/main/docs/flows/card.md
// [glossary]: https://github.com/moneymovement/moneymovement-go/blob/main/docs/glossary.md
package appapi

//go:generate ../internal/tools/run oapi-codegen -config ../internal/tools/codegen/oapi/appapi.yaml -o api.gen.go ../openapi/appapi.yaml
//go:generate gofmt -w -r "externalRef0 -> model" api.gen.go
//go:generate ../internal/tools/run responses -spec ../openapi/appapi.yaml -package appapi
//go:generate ../internal/tools/run requests -spec ../openapi/appapi.yaml
//go:generate ../internal/tools/run readable -unexport BalanceList,BankActivation,BankList,CardLabelUpdate,ContractTemplateList,PaymentMethodsReplacement,QuoteSubmission,TransferCreate .
