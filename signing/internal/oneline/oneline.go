// Package oneline shows names from key files, payloads and documents in an error, which they can neither flood nor
// break into lines.
package oneline

import (
	"strings"
	"unicode"
)

// most is how much of a text is shown, in bytes.
const most = 200

// Of is a text with a space for each character that does not print, cut off where it is long.
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
