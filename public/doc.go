// Package public calls the endpoints of the service that need no credential.
//
//   - [Rates]: exchange rates against USD
//   - [Invoices]: an invoice by its public id, and its PDF
//
// [New] makes a client from the service's address:
//
//	client, err := public.New("https://host.example")
//	rate, err := client.Rates.Get(ctx, "EUR")
//
// Words such as invoice and payment method are explained in the [glossary].
//
// A client of this package never sends a credential and keeps no cookies. Its requests have the headers Accept:
// application/json (also for a PDF) and Host. A User-Agent is sent only with [moneymovement.WithUserAgent], and the
// transport of [moneymovement.WithHTTPClient] may add Accept-Encoding.
//
// # Errors
//
// A refused call fails with the type of the refusal in package errors, such as *errors.NotFound. Bad input fails with
// *errors.InvalidInput before anything is sent. A response of another content type, such as a proxy's HTML page in
// place of a PDF, fails with *errors.UnexpectedResponse.
//
// [glossary]: https://github.com/moneymovement/moneymovement-go/blob/main/docs/glossary.md
package public

//go:generate ../internal/tools/run oapi-codegen -config ../internal/tools/codegen/oapi/public.yaml -o api.gen.go ../openapi/public.yaml
//go:generate gofmt -w -r "externalRef0 -> model" api.gen.go
//go:generate ../internal/tools/run responses -spec ../openapi/public.yaml -package public
//go:generate ../internal/tools/run requests -spec ../openapi/public.yaml
//go:generate ../internal/tools/run readable .
