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
