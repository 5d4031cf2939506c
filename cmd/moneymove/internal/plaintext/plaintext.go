// Package plaintext keeps text of others from moving a terminal's cursor, changing its colors or reversing its lines.
package plaintext

import (
	"io"
	"strings"
	"sync"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// shown stands for a character that does not print.
const shown = '·'

// hidden reports a character that a terminal would obey, and not show: a control character of either set, a mark that
// changes the direction of a line, a separator of lines, or what is left of invalid text.
func hidden(r rune) bool {
	if r < utf8.RuneSelf {
		return r < ' ' || r == unicode.MaxASCII
	}
	return r == utf8.RuneError || unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
}

// Line returns text as one line: no character of it begins another one.
func Line(text string) string {
	return strings.Map(func(r rune) rune {
		if hidden(r) {
			return shown
		}
		return r
	}, text)
}

// lines is Line for text that has lines of its own.
func lines(text string) string {
	return strings.Map(func(r rune) rune {
		if hidden(r) && r != '\n' && r != '\t' {
			return shown
		}
		return r
	}, text)
}

// Writer writes to a terminal what it gets, with a dot for each character that a terminal would obey, except tabs and
// the end of a line. Whoever writes need not think of it.
type Writer struct {
	mu   sync.Mutex
	to   io.Writer
	rest []byte // the beginning of a character whose end comes with the next text
}

// NewWriter returns a Writer.
func NewWriter(to io.Writer) *Writer { return &Writer{to: to} }

// Write implements io.Writer.
func (w *Writer) Write(text []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := append(w.rest, text...)
	whole := len(all) - unfinished(all)
	w.rest = append([]byte(nil), all[whole:]...)
	if _, err := io.WriteString(w.to, lines(string(all[:whole]))); err != nil {
		return 0, err
	}
	return len(text), nil
}

// unfinished returns how many bytes at the end of text begin a character that is not complete.
func unfinished(text []byte) int {
	for size := 1; size < utf8.UTFMax && size <= len(text); size++ {
		if tail := text[len(text)-size:]; utf8.RuneStart(tail[0]) {
			if utf8.FullRune(tail) {
				return 0
			}
			return size
		}
	}
	return 0
}

// JSON returns a value in JSON that a terminal can show. It escapes the characters that JSON lets through and a
// terminal would obey. The value means the same. White space between its parts stays.
func JSON(value []byte) []byte {
	var escaped []byte
	for _, r := range string(value) {
		if !hidden(r) || r == '\n' || r == '\t' || r == '\r' || r == utf8.RuneError {
			escaped = utf8.AppendRune(escaped, r)
			continue
		}
		if high, low := utf16.EncodeRune(r); high != utf8.RuneError {
			escaped = appendEscape(appendEscape(escaped, high), low)
			continue
		}
		escaped = appendEscape(escaped, r)
	}
	return escaped
}

func appendEscape(text []byte, unit rune) []byte {
	const digits = "0123456789abcdef"
	return append(text, '\\', 'u', digits[unit>>12&15], digits[unit>>8&15], digits[unit>>4&15], digits[unit&15])
}
