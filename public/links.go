package public

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// InvoiceID returns the public id of an invoice from a link to it, such as the InvoiceLink of a model.Invoice. Pass the
// id to [Invoices.Get] and [Invoices.PDF]. A link without an id fails with *errors.InvalidInput.
//
// The description does not show the form of such a link. The SDK assumes that the id follows /public/invoices/ in the
// path, or else is the last part of the path. The host of the link does not matter, because InvoiceID sends nothing.
func InvoiceID(link string) (string, error) {
	id := ""
	if parsed, err := url.Parse(link); err == nil {
		path := strings.Trim(parsed.EscapedPath(), "/")
		part := path[strings.LastIndex(path, "/")+1:]
		if _, after, found := strings.Cut("/"+path+"/", invoicesPath); found {
			part, _, _ = strings.Cut(after, "/")
		}
		id, err = url.PathUnescape(part)
		if err != nil {
			id = ""
		}
	}
	err := transport.Validate("InvoiceID", func(c *transport.Check) {
		if !named(id) {
			c.Refuse("link", "invalid_link", "has no invoice id at the end of its path")
		}
	})
	if err != nil {
		return "", err
	}
	return id, nil
}

const invoicesPath = "/public/invoices/"

// named reports whether an id can stand in a path.
func named(id string) bool { return id != "" && id != "." && id != ".." }

// InvoicePDFLink returns the address of an invoice's PDF copy. Send it to the payer, or show it on a page: it needs no
// credential, and everybody who has it can read the invoice. It is the address that [Invoices.PDF] reads.
// InvoicePDFLink itself sends nothing. Without params.Details, the copy has no payment details. Bad input fails with
// *errors.InvalidInput.
//
// The service sends no such link with an invoice, so this method makes one.
func (c *Client) InvoicePDFLink(id string, params RenderInvoicePDFParams) (string, error) {
	made := transport.Of(c)
	err := transport.Validate(opRenderInvoicePDF.ID, func(check *transport.Check) {
		check.Made(transport.Of(made.Invoices).low.transport, maker)
		if !named(id) {
			check.Refuse("id", "missing", "is required")
		}
		if params.Details != nil && *params.Details < 0 {
			check.Refuse("details", "negative", "must not be negative: it counts from 0")
		}
	})
	if err != nil {
		return "", err
	}
	link := strings.TrimRight(made.baseURL, "/") + invoicesPath + url.PathEscape(id) + "/pdf"
	if params.Details != nil {
		link += "?details=" + strconv.Itoa(*params.Details)
	}
	return link, nil
}
