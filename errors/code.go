package errors

import (
	"bytes"
	"sync"
	"unicode/utf8"
)

// Code is a slug: the stable lower snake_case name of a refusal, for example "quote_expired". Branch on it, never on
// the message. The set is open: a newer service can send a code that this SDK does not know.
type Code string

// entry is what the catalogue says about a slug.
type entry struct {
	status    int
	remedy    Remedy
	moved     Movement
	condition string
	hint      string
}

var knownCodes = sync.OnceValue(func() map[string]Code {
	known := map[string]Code{}
	for _, code := range Codes() {
		known[string(code)] = code
	}
	return known
})

// codeOf returns the code that a text spells. It copies only the text of an unknown one.
func codeOf(text []byte) Code {
	if known, ok := knownCodes()[string(text)]; ok {
		return known
	}
	if bytes.ContainsRune(text, utf8.RuneError) {
		return "" // a part of it is lost
	}
	return Code(text)
}

// Known reports whether the SDK has a type for this slug. It returns false for a folded slug, such as
// [CodeContactRequiresQuote], because no error carries it as its Code.
func (c Code) Known() bool {
	_, known := c.lookup()
	return known
}

// Status returns the HTTP status that the slug comes with, or 0 if the slug is not known.
func (c Code) Status() int {
	e, _ := c.lookup()
	return e.status
}

// Hint returns the SDK's advice for this slug, or "" if there is none. The text of the slug's errors contains it.
func (c Code) Hint() string {
	e, _ := c.lookup()
	return e.hint
}

// Condition returns a sentence that says when the service sends the slug, or "" if the slug is not known.
func (c Code) Condition() string {
	e, _ := c.lookup()
	return e.condition
}

// HasCode reports whether err's tree contains a refusal with this slug. A refusal made by hand has the slug of its
// type, also if its Code field is empty. HasCode does not look inside an [InDoubt].
func HasCode(err error, code Code) bool {
	for err != nil {
		if refusal, ok := err.(*Refusal); ok && refusal.Code == code { //nolint:errorlint // this walks the tree itself
			return true
		}
		switch wrapper := err.(type) { //nolint:errorlint // this walks the tree itself
		case interface{ Unwrap() error }:
			err = wrapper.Unwrap()
		case interface{ Unwrap() []error }:
			for _, branch := range wrapper.Unwrap() {
				if HasCode(branch, code) {
					return true
				}
			}
			return false
		default:
			return false
		}
	}
	return false
}
