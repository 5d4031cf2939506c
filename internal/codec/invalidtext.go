package codec

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// ReplaceInvalidText makes the strings of a text valid. U+FFFD stands for a byte that is not UTF-8 and for half of a
// surrogate pair, and an escape for a control character. ends are the places after the strings that it changed, in the
// result. It does not look at what is between strings.
func ReplaceInvalidText(text []byte) (valid []byte, ends []int) {
	done := 0 // the text up to here is in valid, if anything is
	for at := 0; ; {
		begin := bytes.IndexByte(text[at:], '"')
		if begin < 0 {
			break
		}
		scan := Scanner{text: text, at: at + begin}
		if scan.quoted(); !scan.bad {
			at = scan.at
			continue
		}
		inner := at + begin + len(`"`)
		end := closing(text, inner)
		if end == len(text) {
			break
		}
		valid = appendRepaired(append(valid, text[done:inner]...), text[inner:end])
		valid = append(valid, '"')
		ends = append(ends, len(valid))
		at, done = end+len(`"`), end+len(`"`)
	}
	if ends == nil {
		return text, nil
	}
	return append(valid, text[done:]...), ends
}

// closing returns the place of the quote that closes a string, or the length of the text.
func closing(text []byte, at int) int {
	for ; at < len(text) && text[at] != '"'; at++ {
		if text[at] == '\\' {
			at++
		}
	}
	return min(at, len(text))
}

// appendRepaired appends what is between the quotes of a string. An escape that JSON does not have stays as it is.
func appendRepaired(dst, inner []byte) []byte {
	for len(inner) > 0 {
		length := 1
		switch c := inner[0]; {
		case c == '\\':
			if length = escapeLength(inner); length == 0 {
				if _, half := escapedRune(inner); half {
					dst = append(dst, `\ufffd`...)
					inner = inner[len(`\ufffd`):]
					continue
				}
				length = min(len(`\x`), len(inner))
			}
		case c < ' ':
			dst = fmt.Appendf(dst, `\u%04x`, c)
			inner = inner[1:]
			continue
		case c >= utf8.RuneSelf:
			var r rune
			r, length = utf8.DecodeRune(inner)
			dst = utf8.AppendRune(dst, r)
			inner = inner[length:]
			continue
		}
		dst = append(dst, inner[:length]...)
		inner = inner[length:]
	}
	return dst
}
