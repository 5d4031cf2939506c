// Package invoicepdf renders the copy of an invoice as a PDF of A4 pages.
//
// A copy is deterministic: the same content and time give the same bytes. Its text can be selected and searched. The
// embedded fonts have Latin, Greek and Cyrillic characters. Any other character prints as a question mark.
package invoicepdf

import (
	"bytes"
	"fmt"
	"time"

	"codeberg.org/go-pdf/fpdf"
)

// Measures of a page, in millimetres.
const (
	margin = 18.0
	leaf   = 210.0 - 2*margin // between the margins
	step   = 5.5              // from line to line
	gap    = 6.0              // between sections
	bottom = 297.0 - 22.0     // where a page ends
)

// Font sizes, in points.
const (
	small  = 8.0
	normal = 10.0
	large  = 20.0
)

// page writes sections from top to bottom.
type page struct {
	*fpdf.Fpdf
	print *printer
}

// Render makes the PDF. It fails only if the embedded fonts cannot be used.
func Render(c Copy) ([]byte, error) {
	letters, err := newPrinter()
	if err != nil {
		return nil, fmt.Errorf("invoicepdf: the font cannot be read: %w", err)
	}
	p := page{fpdf.New("P", "mm", "A4", ""), letters}
	p.set(c)
	p.AddPage()
	p.heading(c.Title)
	p.rows(c.Facts)
	p.parties(c.From, c.To)
	p.table(c.Lines)
	p.totals(c.Totals)
	p.note(c.Note)
	p.payment(c.Payment)

	var file bytes.Buffer
	if err := p.Output(&file); err != nil {
		return nil, fmt.Errorf("invoicepdf: %w", err)
	}
	return file.Bytes(), nil
}

// set prepares the document. Nothing in it may depend on the machine or on the order of a map.
func (p page) set(c Copy) {
	p.SetCatalogSort(true)
	p.SetCreationDate(c.RenderedAt)
	p.SetModificationDate(c.RenderedAt)
	p.SetTitle(p.print.text(c.Title), true)
	p.SetProducer("sandbox host", true)
	p.SetLang("en")
	p.SetMargins(margin, margin, margin)
	p.SetAutoPageBreak(true, 297-bottom)
	addFonts(p.Fpdf)
	p.SetFooterFunc(func() {
		p.SetY(-15)
		p.SetFont(family, regular, small)
		p.CellFormat(0, step, fmt.Sprintf("Page %d", p.PageNo()), "", 0, "R", false, 0, "")
	})
}

// keep starts a new page if less than this height is left.
func (p page) keep(height float64) (started bool) {
	if p.GetY()+height <= bottom {
		return false
	}
	p.AddPage()
	return true
}

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
