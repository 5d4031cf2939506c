package jsonscan

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/moneymovement/moneymovement-go/internal/jsonv2"
)

// word reads true, false or null.
func (s *Scanner) word(word string) {
	if !bytes.HasPrefix(s.text[s.at:], []byte(word)) {
		s.Fail()
		return
	}
	s.at += len(word)
}

// number reads a number in JSON's grammar.
func (s *Scanner) number() {
	if s.here() == '-' {
		s.at++
	}
	valid := true
	if s.here() == '0' {
		s.at++ // no digits may follow
	} else {
		valid = s.digits()
	}
	if valid && s.here() == '.' {
		s.at++
		valid = s.digits()
	}
	if valid && (s.here() == 'e' || s.here() == 'E') {
		s.at++
		if s.here() == '+' || s.here() == '-' {
			s.at++
		}
		valid = s.digits()
	}
	if !valid {
		s.Fail()
	}
}

// digits reads digits. It returns false if there is not even one.
func (s *Scanner) digits() bool {
	start := s.at
	for '0' <= s.here() && s.here() <= '9' {
		s.at++
	}
	return s.at > start
}

// here returns the next character, or 0 at the end.
func (s *Scanner) here() byte {
	if s.at == len(s.text) {
		return 0
	}
	return s.text[s.at]
}

// unquoted reads a string, and returns what it says and whether it had escapes. Without escapes it is a part of the
// text. With escapes it is valid until the next string is read.
func (s *Scanner) unquoted() (text []byte, escaped bool) {
	inner, escaped := s.quoted()
	if !escaped {
		return inner, false
	}
	text, _ = jsonv2.AppendUnquote(s.room[:0], s.text[s.at-len(inner)-len(`""`):s.at]) // quoted has checked it
	s.room = text
	return text, true
}

// quoted reads a string, and returns what is between its quotes and whether it has escapes.
func (s *Scanner) quoted() (inner []byte, escaped bool) {
	start, ascii := s.at+1, true
	for i := usual(s.text, start); i < len(s.text); i = usual(s.text, i) {
		switch c := s.text[i]; {
		case c == '"':
			inner, s.at = s.text[start:i:i], i+1
			if !ascii && !utf8.Valid(inner) {
				s.Fail()
				return nil, false
			}
			return inner, escaped
		case c == '\\':
			length := escapeLength(s.text[i:])
			if length == 0 {
				s.Fail()
				return nil, false
			}
			i, escaped = i+length, true
		case c < ' ':
			s.Fail()
			return nil, false
		default:
			ascii = false
			i++
		}
	}
	s.Fail()
	return nil, false
}

// usual returns the place of the next character that quoted must look at, or the length of the text.
func usual(text []byte, at int) int {
	for len(text)-at >= 8 {
		if special := specials(binary.LittleEndian.Uint64(text[at:])); special != 0 {
			return at + bits.TrailingZeros64(special)/8
		}
		at += 8
	}
	for at < len(text) && text[at] >= ' ' && text[at] < utf8.RuneSelf && text[at] != '"' && text[at] != '\\' {
		at++
	}
	return at
}

// specials finds, among eight bytes at once, those that quoted must look at: quotes, backslashes, control characters
// and all that is not ASCII. The lowest byte with its highest bit set is the first of them. Bytes above it can have
// that bit without being special, because a subtraction borrows from them.
func specials(eight uint64) uint64 {
	const each, highest = 0x0101010101010101, 0x8080808080808080
	quote, backslash := eight^each*'"', eight^each*'\\'
	return (eight | (eight - each*' ') | (quote - each) | (backslash - each)) & highest
}

// escapeLength returns the length of the escape at the beginning of a text, or 0 if it is not valid. A surrogate is
// valid only in a pair.
func escapeLength(text []byte) int {
	if len(text) < len(`\n`) {
		return 0
	}
	switch text[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return len(`\n`)
	}
	const length = len(`\u0000`)
	char, valid := escapedRune(text)
	switch {
	case !valid:
		return 0
	case !utf16.IsSurrogate(char):
		return length
	}
	if low, valid := escapedRune(text[length:]); valid && utf16.DecodeRune(char, low) != utf8.RuneError {
		return 2 * length
	}
	return 0
}

// escapedRune reads an escape such as \u00e9.
func escapedRune(text []byte) (rune, bool) {
	if len(text) < len(`\u0000`) || text[0] != '\\' || text[1] != 'u' {
		return 0, false
	}
	var code [2]byte
	_, err := hex.Decode(code[:], text[2:6])
	return rune(binary.BigEndian.Uint16(code[:])), err == nil
}
