// Package oneline makes names from key files, payloads and documents safe for an error text: one line of limited
// length.
package oneline

import (
	"strings"
	"unicode"
)

// most is the largest length of a text, in bytes.
const most = 200

// Of returns text with a space for each character that does not print. It cuts a long text.
func Of(text string) string {
	text = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, text)
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}
