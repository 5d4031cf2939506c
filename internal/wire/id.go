package wire

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// IDForm is what a request requires of an id. An id in a response must have the same form: a program stores it, shows
// it, and puts it into the path of the next request.
type IDForm struct {
	Prefix  string // ids with another known prefix are of another kind
	Pattern string // what is stated of it
}

// longestID is more than any id of the description has.
const longestID = 256

// problem returns why a text is no such id, or "".
func (f *IDForm) problem(text string) string {
	switch {
	case f == nil:
		return ""
	case len(text) > longestID:
		return "is too long for an id"
	case ForeignNamespace(text, f.Prefix) != "":
		return "is the id of another kind of resource"
	case !StaysSegment(text) || f.Pattern != "" && !Matches(f.Pattern, text):
		return "is not an id"
	}
	return ""
}

// StaysSegment reports that an escaped value stays one segment of a path. No server or proxy that decodes twice may
// read it as "..", as a separator, or as the end of the path. All of it can be seen.
func StaysSegment(value string) bool {
	if ofWordCharacters(value) {
		return true
	}
	switch BeforeParameters(value) {
	case "", ".", "..":
		return false
	}
	return utf8.ValidString(value) && !strings.ContainsAny(value, `/\%?#`) &&
		!strings.ContainsFunc(value, func(r rune) bool { return !unicode.IsPrint(r) })
}

// ofWordCharacters reports a text that has only letters, digits, _ and -, like most ids. It returns true for the empty
// text, which another check refuses.
func ofWordCharacters(value string) bool {
	for i := range len(value) {
		c := value[i]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' && c != '-' {
			return false
		}
	}
	return true
}

// BeforeParameters returns the part of a segment that some servers read: the text before the first semicolon, without
// spaces.
func BeforeParameters(segment string) string {
	name, _, _ := strings.Cut(segment, ";")
	return strings.TrimSpace(name)
}

// namespaces are the stated prefixes of ids. The id of a contact may have no prefix, so its pattern alone would accept
// the ids of other resources.
var namespaces = [...]string{"bnk_", "cl_", "ct_", "dk_", "po_"}

// ForeignNamespace returns the stated prefix of an id of another kind than own, or "".
func ForeignNamespace(id, own string) string {
	if strings.HasPrefix(id, own) {
		return ""
	}
	for _, prefix := range namespaces {
		if strings.HasPrefix(id, prefix) {
			return prefix
		}
	}
	return ""
}
