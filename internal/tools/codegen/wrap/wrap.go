// Package wrap breaks text into lines for the files that the generators write.
package wrap

import (
	"strings"
	"unicode/utf8"
)

// Most is the widest line, in columns.
const Most = 120

// Columns returns how wide a line is. A tab counts as four.
func Columns(line string) int {
	return utf8.RuneCountInString(line) + 3*strings.Count(line, "\t")
}

// Lines breaks a text at its spaces into lines of at most Most columns. The first line begins with first, each other
// line with next. A word that is wider than a line has a line of its own.
func Lines(text, first, next string) []string {
	var lines []string
	line, words := first, 0
	for word := range strings.FieldsSeq(text) {
		if words > 0 && Columns(line+" "+word) > Most {
			lines, line, words = append(lines, line), next, 0
		}
		if words > 0 {
			line += " "
		}
		line += word
		words++
	}
	return append(lines, line)
}
