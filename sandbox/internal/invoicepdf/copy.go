package invoicepdf

import "time"

// Copy is what a copy says, already in words. Empty parts are left out.
type Copy struct {
	// Title heads the first page, such as "Invoice INV-0001".
	Title string
	// Facts are the status, the dates and the like.
	Facts []Row
	// From is paid, To pays.
	From, To Party
	// Lines are what is invoiced.
	Lines []Line
	// Totals stand below the lines; the last is the amount due.
	Totals []Row
	// Note is free text.
	Note string
	// Payment is how to pay: the chosen payment method, or nothing.
	Payment []Row
	// RenderedAt is the time that the file carries as that of its making.
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
