// Package shell builds command lines that a person may paste into a shell. Some of their words come from a host.
package shell

import (
	"fmt"
	"strings"
	"unicode"
)

// Line returns a command line of these words. A POSIX shell reads each as one word, and runs nothing in it. The console
// of the sandbox host builds its lines in the same way, in format.js.
func Line(words ...string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = Word(word)
	}
	return strings.Join(quoted, " ")
}

// Word returns a word as a shell reads it: as it is, or in quotes. A word with characters that do not print gets quotes
// in which they are written as numbers, because a terminal would obey them, or not show them. Older shells, such as
// dash, read the numbers as text. A word has no NUL, which no program could receive.
func Word(word string) string {
	word = strings.ReplaceAll(word, "\x00", "")
	switch {
	case isPlain(word):
		return word
	case !strings.ContainsFunc(word, hidden):
		return `'` + strings.ReplaceAll(word, `'`, `'\''`) + `'`
	}
	var text strings.Builder
	for _, r := range strings.ToValidUTF8(word, "\ufffd") {
		if !hidden(r) && r != '\'' && r != '\\' {
			text.WriteRune(r)
			continue
		}
		for _, b := range []byte(string(r)) {
			fmt.Fprintf(&text, `\%03o`, b)
		}
	}
	return `$'` + text.String() + `'`
}

// hidden reports a character that is not shown. The end of a line is: in quotes it is text.
func hidden(r rune) bool {
	return r != '\n' && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) || r == unicode.ReplacementChar
}

// isPlain reports a word that means itself in every shell. zsh looks for a program behind an equals sign.
func isPlain(word string) bool {
	return word != "" && !strings.HasPrefix(word, "=") && strings.Trim(word,
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_@%+=:,./-") == ""
}
