package invoicepdf

import "time"

// Copy is the content of a copy, in words. Empty parts are left out.
type Copy struct {
	// Title is the heading of the first page, such as "Invoice INV-0001".
	Title string
	// Facts are the status, the dates and similar facts.
	Facts []Row
	// From receives the payment. To pays it.
	From, To Party
	// Lines are the lines of the invoice.
	Lines []Line
	// Totals are below the lines. The last total is the amount due.
	Totals []Row
	// Note is free text.
	Note string
	// Payment says how to pay, if a payment method was chosen.
	Payment []Row
	// RenderedAt is the creation time in the file.
	RenderedAt time.Time
}

// Row is a label with its value.
type Row struct{ Label, Value string }

// Party is a party of the invoice: a name with lines below.
type Party struct {
	Name  string
	Lines []string
}

// Line is one line of an invoice, with amounts as they are printed.
type Line struct{ Name, Quantity, Price, Total string }
