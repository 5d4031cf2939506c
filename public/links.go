package public

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// InvoiceID returns the public id of the invoice that a link leads to, such as the InvoiceLink of a model.Invoice. Pass
// it to [Invoices.Get] and [Invoices.PDF]. A link that holds no id is *errors.InvalidInput.
//
// The description of the service shows no form of such a link. It is assumed that the id is the part of the path after
// /public/invoices/ or, if there is none, the last part. The host of the link does not matter: nothing is sent to it.
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

// named reports that an id is a part of a path that leads somewhere.
func named(id string) bool { return id != "" && id != "." && id != ".." }

// InvoicePDFLink returns the address of an invoice's PDF copy, for people who hold no credential: send it to the payer,
// or show it on a page. It is the address that [Invoices.PDF] reads; nothing is sent now. Everybody who has the link can
// read the invoice. Without params.Details, the copy carries no payment details.
//
// The service's invoices carry no download link of their own. Bad input is *errors.InvalidInput.
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
