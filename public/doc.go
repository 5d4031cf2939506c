// Package public is what the service answers to everybody: exchange rates, and invoices for whoever holds their public
// id.
//
//	client, err := public.New(baseURL)
//	rate, err := client.Rates.Get(ctx, "EUR")
//	pdf, err := client.Invoices.PDF(ctx, invoiceID, public.RenderInvoicePDFParams{Details: new(0)})
//	defer pdf.Close()
//	_, err = io.Copy(file, pdf)
//
// No credential is ever sent: a client of this package has none, and keeps no cookies. Of headers there is Accept:
// application/json, also for a PDF, the User-Agent, and what net/http adds for itself, which is Host and
// Accept-Encoding.
//
// All calls answer the types of package errors. An answer of another content type, such as an HTML page of a proxy in
// the place of a PDF, is *errors.UnexpectedResponse.
//
// Source: Public utilities.
package public
