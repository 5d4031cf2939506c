package paperwork

import (
	"bytes"
	"fmt"
	"strings"
	"time"
	"unicode"

	"codeberg.org/go-pdf/fpdf"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/sfnt"
)

// Measures of a page, in millimetres.
const (
	margin       = 18.0
	contentWidth = 210.0 - 2*margin // between the margins
	step         = 5.5              // from line to line
	gap          = 6.0              // between sections
	bottom       = 297.0 - 22.0     // where a page ends
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

// RenderCopy makes the PDF. It fails only if the embedded fonts cannot be used.
func RenderCopy(c CopyContent) ([]byte, error) {
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
func (p page) set(c CopyContent) {
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

// CopyContent is the content of a copy, in words. Empty parts are left out.
type CopyContent struct {
	// Title is the heading of the first page, such as "Invoice INV-0001".
	Title string
	// Facts are the status, the dates and similar facts.
	Facts []CopyRow
	// From receives the payment. To pays it.
	From, To CopyParty
	// Lines are the lines of the invoice.
	Lines []CopyLine
	// Totals are below the lines. The last total is the amount due.
	Totals []CopyRow
	// Note is free text.
	Note string
	// Payment says how to pay, if a payment method was chosen.
	Payment []CopyRow
	// RenderedAt is the creation time in the file.
	RenderedAt time.Time
}

// CopyRow is a label with its value.
type CopyRow struct{ Label, Value string }

// CopyParty is a party of the invoice: a name with lines below.
type CopyParty struct {
	Name  string
	Lines []string
}

// CopyLine is one line of an invoice, with amounts as they are printed.
type CopyLine struct{ Name, Quantity, Price, Total string }

// label is the width of a label, in millimetres.
const label = 45.0

func (p page) heading(title string) {
	p.SetFont(family, bold, large)
	p.MultiCell(contentWidth, large*0.5, p.print.text(title), "", "L", false)
	p.Ln(gap / 2)
}

// caption writes the heading of a section, and starts a new page if only the heading fits.
func (p page) caption(title string) {
	p.Ln(gap)
	p.keep(3 * step)
	p.SetFont(family, bold, normal)
	p.CellFormat(contentWidth, step+1, title, "B", 1, "L", false, 0, "")
	p.Ln(1)
}

// rows prints labels with their values beside them. A long value takes several lines.
func (p page) rows(rows []CopyRow) {
	for _, row := range rows {
		if row.Value == "" {
			continue
		}
		p.SetFont(family, regular, normal)
		p.keep(step)
		p.CellFormat(label, step, p.print.text(row.Label), "", 0, "L", false, 0, "")
		p.MultiCell(contentWidth-label, step, p.print.text(row.Value), "", "L", false)
	}
}

// parties prints the two parties.
func (p page) parties(from, to CopyParty) {
	p.party("From", from)
	p.party("To", to)
}

func (p page) party(title string, party CopyParty) {
	if party.Name == "" && len(party.Lines) == 0 {
		return
	}
	p.caption(title)
	p.SetFont(family, regular, normal)
	for _, line := range append([]string{party.Name}, party.Lines...) {
		if line != "" {
			p.MultiCell(contentWidth, step, p.print.text(line), "", "L", false)
		}
	}
}

// totals prints amounts at the right edge, the last in bold.
func (p page) totals(rows []CopyRow) {
	for i, row := range rows {
		weight := regular
		if i == len(rows)-1 {
			weight = bold
		}
		p.keep(step)
		p.SetFont(family, weight, normal)
		p.CellFormat(contentWidth-label, step, p.print.text(row.Label), "", 0, "R", false, 0, "")
		p.CellFormat(label, step, p.print.text(row.Value), "", 1, "R", false, 0, "")
	}
}

func (p page) note(text string) {
	if text == "" {
		return
	}
	p.caption("Note")
	p.SetFont(family, regular, normal)
	p.MultiCell(contentWidth, step, p.print.text(text), "", "L", false)
}

func (p page) payment(rows []CopyRow) {
	if len(rows) == 0 {
		return
	}
	p.caption("Payment details")
	p.rows(rows)
}

// The widths of the table's columns, in millimetres. The name gets the rest.
const (
	quantityWidth = 24.0
	priceWidth    = 36.0
	totalWidth    = 36.0
	nameWidth     = contentWidth - quantityWidth - priceWidth - totalWidth
)

// table prints the lines. Each page repeats the head of the table.
func (p page) table(lines []CopyLine) {
	if len(lines) == 0 {
		return
	}
	p.Ln(gap)
	p.keep(3 * step)
	p.tableHead()
	for _, line := range lines {
		p.tableLine(line)
	}
	p.Ln(gap / 2)
}

func (p page) tableHead() {
	p.SetFont(family, bold, normal)
	p.columns("B", "Description", CopyLine{Quantity: "Quantity", Price: "Price", Total: "Total"})
	p.SetFont(family, regular, normal)
}

// tableLine wraps a long name over several rows, with the amounts beside the first.
func (p page) tableLine(line CopyLine) {
	names := p.SplitText(p.print.text(line.Name), nameWidth-2)
	if len(names) == 0 {
		names = []string{""}
	}
	for i, name := range names {
		if p.keep(step) {
			p.tableHead()
		}
		if i > 0 {
			line = CopyLine{}
		}
		p.columns("", name, line)
	}
}

func (p page) columns(border, name string, line CopyLine) {
	p.CellFormat(nameWidth, step, name, border, 0, "L", false, 0, "")
	p.CellFormat(quantityWidth, step, p.print.text(line.Quantity), border, 0, "R", false, 0, "")
	p.CellFormat(priceWidth, step, p.print.text(line.Price), border, 0, "R", false, 0, "")
	p.CellFormat(totalWidth, step, p.print.text(line.Total), border, 1, "R", false, 0, "")
}

const (
	family  = "go"
	regular = ""
	bold    = "B"
)

// addFonts embeds the fonts of the pages.
func addFonts(pages *fpdf.Fpdf) {
	pages.AddUTF8FontFromBytes(family, regular, goregular.TTF)
	pages.AddUTF8FontFromBytes(family, bold, gobold.TTF)
}

// printer replaces characters that the fonts do not have. The PDF library supports 16-bit characters only, and prints
// nothing for a missing one.
type printer struct {
	font   *sfnt.Font
	buffer sfnt.Buffer
}

func newPrinter() (*printer, error) {
	font, err := sfnt.Parse(goregular.TTF)
	return &printer{font: font}, err
}

// text returns one printable line.
func (p *printer) text(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r):
			return -1
		case r > 0xFFFF || !p.has(r):
			return '?'
		default:
			return r
		}
	}, s)
}

func (p *printer) has(r rune) bool {
	glyph, err := p.font.GlyphIndex(&p.buffer, r)
	return err == nil && glyph != 0
}
