package invoicepdf

import (
	"strings"
	"unicode"

	"codeberg.org/go-pdf/fpdf"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/sfnt"
)

const (
	family  = "go"
	regular = ""
	bold    = "B"
)

// addFonts embeds the fonts that the pages are set in.
func addFonts(pages *fpdf.Fpdf) {
	pages.AddUTF8FontFromBytes(family, regular, goregular.TTF)
	pages.AddUTF8FontFromBytes(family, bold, gobold.TTF)
}

// printer replaces what the fonts cannot show: the PDF library takes 16-bit characters only, and a missing glyph would
// print as nothing.
type printer struct {
	font   *sfnt.Font
	buffer sfnt.Buffer
}

func newPrinter() (*printer, error) {
	font, err := sfnt.Parse(goregular.TTF)
	return &printer{font: font}, err
}

// text is one line that can be printed.
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
