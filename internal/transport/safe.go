package transport

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Segment checks that a value stays one segment of a path once it is escaped: nothing in it can be read as a step, as a
// separator, as the end of the path, or, by a proxy that decodes twice, as any of these. It reports whether the value
// does.
func (c *Check) Segment(field, value string) bool {
	if staysSegment(value) {
		return true
	}
	c.Refuse(field, "pattern", "could be read as another path")
	return false
}

func staysSegment(value string) bool {
	if ofWordCharacters(value) {
		return true
	}
	switch beforeParameters(value) {
	case "", ".", "..":
		return false
	}
	return utf8.ValidString(value) && !strings.ContainsAny(value, `/\%?#`) &&
		!strings.ContainsFunc(value, unicode.IsControl)
}

// ofWordCharacters reports letters, digits, _ and - alone, as most ids are. A text of nothing is one: what is absent is
// refused as such.
func ofWordCharacters(value string) bool {
	for i := range len(value) {
		c := value[i]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' && c != '-' {
			return false
		}
	}
	return true
}

// beforeParameters is what some servers read of a segment: they drop what follows a semicolon, and spaces.
func beforeParameters(segment string) string {
	name, _, _ := strings.Cut(segment, ";")
	return strings.TrimSpace(name)
}

// maxHeader is a length that no header has: servers stop reading long before.
const maxHeader = 64 << 10

// Header checks a text that travels as a header. What would break the header is refused, whatever the rule says.
func (c *Check) Header(field, value string, rule Rule) {
	switch {
	case strings.ContainsFunc(value, breaksHeader):
		c.Refuse(field, "pattern", "has characters that no header can carry")
	case len(value) > maxHeader:
		c.Refuse(field, "too_long", "is longer than a header can be")
	default:
		c.Text(field, value, rule)
	}
}

// breaksHeader tells the characters that end a header, or that HTTP forbids in one.
//
// Source: RFC 9110, section 5.5.
func breaksHeader(r rune) bool { return r < ' ' && r != '\t' || r == '\x7f' }
