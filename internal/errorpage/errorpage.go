// Package errorpage links the texts of errors to their entries on the error page, docs/errors.md. A text has at most
// one link, at its end: that of the outermost error.
package errorpage

import (
	"fmt"
	"strings"
)

// Address is where the error page is published.
const Address = "https://github.com/moneymovement/moneymovement-go/blob/main/docs/errors.md"

// before comes in front of a link in a text.
const before = " - see "

// Text returns the text of err with a link to the entry of err's type.
func Text(err error, text string) string {
	return To(Anchor(strings.TrimPrefix(fmt.Sprintf("%T", err), "*")), text)
}

// Textf is [Text] with a text that fmt formats.
func Textf(err error, format string, args ...any) string {
	return Text(err, fmt.Sprintf(format, args...))
}

// To returns text with a link to an anchor of the page, in place of the links of the errors that text quotes.
func To(anchor, text string) string { return Without(text) + before + Address + "#" + anchor }

// Anchor returns the anchor of an entry: a slug, or a Go type such as dapi.PriceRefused.
func Anchor(entry string) string { return strings.ToLower(strings.ReplaceAll(entry, ".", "")) }

// Without returns text without links to the page.
func Without(text string) string {
	const link = before + Address + "#"
	for {
		head, rest, found := strings.Cut(text, link)
		if !found {
			return text
		}
		text = head + strings.TrimLeft(rest, "abcdefghijklmnopqrstuvwxyz0123456789_")
	}
}
