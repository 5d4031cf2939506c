package paperwork_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/ledongthuc/pdf"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/paperwork"
)

func sample() paperwork.CopyContent {
	return paperwork.CopyContent{
		Title: "Invoice INV-0001",
		Facts: []paperwork.CopyRow{{Label: "Status", Value: "sent"}, {Label: "Paid", Value: ""}},
		From:  paperwork.CopyParty{Name: "Łukasz Žák", Lines: []string{"lukasz@example.com", "", "Ulica Długa 1"}},
		To:    paperwork.CopyParty{Name: "Acme Ltd"},
		Lines: []paperwork.CopyLine{
			{Name: "Design (three days)", Quantity: "3", Price: "€100.00", Total: "€300.00"},
		},
		Totals:     []paperwork.CopyRow{{Label: "Amount due", Value: "300.00 EUR"}},
		Note:       "Thank you",
		Payment:    []paperwork.CopyRow{{Label: "IBAN", Value: "DE89370400440532013000"}},
		RenderedAt: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
	}
}

// read extracts the text of each page, one printed piece a line.
func read(t testing.TB, file []byte) []string {
	t.Helper()
	reader, err := pdf.NewReader(bytes.NewReader(file), int64(len(file)))
	require.NoError(t, err)
	pages := make([]string, reader.NumPage())
	for i := range pages {
		var text strings.Builder
		pdf.Interpret(reader.Page(i+1).V.Key("Contents"), func(stack *pdf.Stack, operator string) {
			arguments := make([]pdf.Value, stack.Len())
			for j := range arguments {
				arguments[len(arguments)-1-j] = stack.Pop()
			}
			if operator == "Tj" {
				text.WriteString(characters(arguments[0].RawString()) + "\n")
			}
		})
		pages[i] = text.String()
	}
	return pages
}

// characters reads the character codes of the embedded fonts, which are UTF-16.
func characters(raw string) string {
	var units []uint16
	for i := 0; i+1 < len(raw); i += 2 {
		units = append(units, uint16(raw[i])<<8|uint16(raw[i+1]))
	}
	return string(utf16.Decode(units))
}

func render(t testing.TB, c paperwork.CopyContent) []string {
	t.Helper()
	file, err := paperwork.RenderCopy(c)
	require.NoError(t, err)
	require.True(t, bytes.HasPrefix(file, []byte("%PDF-")))
	return read(t, file)
}

func TestInvoicePDFContent(t *testing.T) {
	t.Parallel()
	pages := render(t, sample())
	require.Len(t, pages, 1)
	for _, want := range []string{
		"Invoice INV-0001\n", "Status\n", "sent\n", "Łukasz Žák\n", "Ulica Długa 1\n", "Acme Ltd\n",
		"Design (three days)\n",
		"€300.00\n", "Amount due\n", "300.00 EUR\n", "Thank you\n", "Payment details\n", "IBAN\n",
		"DE89370400440532013000\n", "Page 1\n",
	} {
		assert.Contains(t, pages[0], want)
	}
	assert.NotContains(t, pages[0], "Paid", "a fact without a value is left out")
}

func TestInvoicePDFWithoutPaymentSection(t *testing.T) {
	t.Parallel()
	c := sample()
	c.Payment = nil
	assert.NotContains(t, render(t, c)[0], "Payment details")
}

func TestInvoicePDFIsDeterministic(t *testing.T) {
	t.Parallel()
	first, err := paperwork.RenderCopy(sample())
	require.NoError(t, err)
	for range 5 {
		again, err := paperwork.RenderCopy(sample())
		require.NoError(t, err)
		require.Equal(t, first, again)
	}
	later := sample()
	later.RenderedAt = later.RenderedAt.Add(time.Second)
	other, err := paperwork.RenderCopy(later)
	require.NoError(t, err)
	assert.NotEqual(t, first, other, "the file carries its time")
}

func TestInvoicePDFRepeatsTableHeadOnEachPage(t *testing.T) {
	t.Parallel()
	c := sample()
	c.Lines = nil
	for i := range 120 {
		c.Lines = append(c.Lines, paperwork.CopyLine{Name: fmt.Sprintf("Line %d", i), Quantity: "1", Price: "1.00",
			Total: "1.00"})
	}
	pages := render(t, c)
	require.Greater(t, len(pages), 2)
	all := strings.Join(pages, "")
	for i := range 120 {
		assert.Equal(t, 1, strings.Count(all, fmt.Sprintf("Line %d\n", i)))
	}
	assert.Contains(t, pages[1], "Description\n")
	assert.Contains(t, pages[1], "Page 2\n")
	assert.Contains(t, pages[len(pages)-1], "DE89370400440532013000\n")
}

func TestInvoicePDFWrapsLongNames(t *testing.T) {
	t.Parallel()
	c := sample()
	c.Lines = []paperwork.CopyLine{
		{Name: strings.Repeat("many words ", 40), Quantity: "7", Price: "1.23", Total: "8.61"},
	}
	page := render(t, c)[0]
	assert.Equal(t, 40, strings.Count(page, "words"))
	assert.Equal(t, 40, strings.Count(page, "many"))
	assert.Equal(t, 1, strings.Count(page, "8.61\n"))
}

func TestInvoicePDFReplacesUnknownCharacters(t *testing.T) {
	t.Parallel()
	c := sample()
	c.Note = "A\tB\nC\x00D 漢 😀 ½"
	assert.Contains(t, render(t, c)[0], "A B CD ? ? ½\n")
}

func TestInvoicePDFWithAnyText(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"empty":          "",
		"not UTF-8":      "a\xff\xfe\xc0",
		"of PDF":         `) Tj ET (\\ \(nested) <</Type /Page>> endstream endobj %%EOF`,
		"beyond 16 bits": "\U0001F600\U0010FFFF",
		"surrogates":     "\xed\xa0\x80",
		"right to left":  "שלום \u202e abc",
		"one long word":  strings.Repeat("W", 3000),
		"line breaks":    strings.Repeat("\r\n\u2028", 200),
		"page alias":     "{nb}",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := sample()
			c.Title, c.From.Name, c.To.Lines, c.Lines[0].Name, c.Note = text, text, []string{text}, text, text
			c.Payment[0].Value = text
			assert.Contains(t, strings.Join(render(t, c), ""), "300.00 EUR\n")
		})
	}
}
