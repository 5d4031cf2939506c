package wire

import (
	"regexp"
	"regexp/syntax"
	"strings"
	"sync"
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

// problem returns why a text is not such an id, or "".
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

// Every id of every call is checked against its pattern. Package regexp needs about a microsecond for that, which makes
// the read of one resource 8 to 14 % slower (CPU time, 60 turns each in one process). Delete this file when the library
// is faster. Most patterns have one form: an optional prefix, and then ASCII characters. A check of that form takes a
// few nanoseconds. Patterns of another form use package regexp.

// matcher checks a text against one pattern.
type matcher interface{ MatchString(string) bool }

// matchers holds the patterns of the description. Their number is fixed.
var matchers sync.Map

// Matches reports whether a text matches a pattern of the description, in RE2's syntax.
func Matches(pattern, text string) bool { return matcherOf(pattern).MatchString(text) }

func matcherOf(text string) matcher {
	if known, ok := matchers.Load(text); ok {
		return known.(matcher) //nolint:errcheck // nothing else is stored
	}
	made, _ := matchers.LoadOrStore(text, newMatcher(text))
	return made.(matcher) //nolint:errcheck // nothing else is stored
}

func newMatcher(text string) matcher {
	if id, ok := idFormOf(text); ok {
		return id
	}
	if prefix, ok := prefixOf(text); ok {
		return prefix
	}
	return regexp.MustCompile(text)
}

// idForm is the form ^prefix[first][rest]{least,most}$. Each part except the rest may be missing. The prefix may be
// optional: ^(?:prefix)?.
type idForm struct {
	prefix   string
	optional bool
	first    *asciiSet // of one character before the rest, or nil
	rest     asciiSet
	least    int
	most     int // -1 for no limit
}

// MatchString reports whether the whole text has the form.
func (f *idForm) MatchString(text string) bool {
	if after, found := strings.CutPrefix(text, f.prefix); found && f.matchRest(after) {
		return true
	}
	return f.optional && f.matchRest(text)
}

func (f *idForm) matchRest(text string) bool {
	if f.first != nil {
		if text == "" || !f.first.has(text[0]) {
			return false
		}
		text = text[1:]
	}
	if len(text) < f.least || f.most >= 0 && len(text) > f.most {
		return false
	}
	for i := range len(text) {
		if !f.rest.has(text[i]) {
			return false
		}
	}
	return true
}

// prefixForm is the form ^prefix.
type prefixForm string

// MatchString reports whether the text begins with the prefix.
func (p prefixForm) MatchString(text string) bool { return strings.HasPrefix(text, string(p)) }

// prefixOf returns the prefixForm of a pattern, if it has that form.
func prefixOf(text string) (prefixForm, bool) {
	parsed, err := syntax.Parse(text, syntax.Perl)
	if err != nil || parsed.Op != syntax.OpConcat || len(parsed.Sub) != 2 || parsed.Sub[0].Op != syntax.OpBeginText {
		return "", false
	}
	literal, optional, ok := literalOf(parsed.Sub[1])
	return prefixForm(literal), ok && !optional
}

// asciiSet is a set of characters below 128.
type asciiSet [utf8.RuneSelf]bool

func (s *asciiSet) has(c byte) bool { return c < utf8.RuneSelf && s[c] }

// idFormOf returns the idForm of a pattern, if it has that form.
func idFormOf(text string) (*idForm, bool) {
	parsed, err := syntax.Parse(text, syntax.Perl)
	if err != nil || parsed.Op != syntax.OpConcat {
		return nil, false
	}
	parts := parsed.Sub
	if len(parts) < 3 || parts[0].Op != syntax.OpBeginText || parts[len(parts)-1].Op != syntax.OpEndText {
		return nil, false
	}
	form, parts := new(idForm), parts[1:len(parts)-1]
	if len(parts) > 1 {
		if literal, optional, ok := literalOf(parts[0]); ok {
			form.prefix, form.optional, parts = literal, optional, parts[1:]
		}
	}
	if len(parts) > 1 && parts[0].Op == syntax.OpCharClass {
		form.first = new(asciiSet)
		if !form.first.take(parts[0]) {
			return nil, false
		}
		parts = parts[1:]
	}
	if len(parts) != 1 {
		return nil, false
	}
	class := parts[0]
	switch class.Op {
	case syntax.OpRepeat:
		form.least, form.most, class = class.Min, class.Max, class.Sub[0]
	case syntax.OpPlus:
		form.least, form.most, class = 1, -1, class.Sub[0]
	case syntax.OpStar:
		form.most, class = -1, class.Sub[0]
	default:
		form.least, form.most = 1, 1
	}
	return form, form.rest.take(class)
}

func literalOf(part *syntax.Regexp) (literal string, optional, ok bool) {
	if part.Op == syntax.OpQuest && part.Flags&syntax.NonGreedy == 0 {
		part, optional = part.Sub[0], true
	}
	if part.Op != syntax.OpLiteral || part.Flags&syntax.FoldCase != 0 {
		return "", false, false
	}
	return string(part.Rune), optional, true
}

// take fills the set from a class of characters. It returns false if the class has characters that are not ASCII.
func (s *asciiSet) take(class *syntax.Regexp) bool {
	if class.Op != syntax.OpCharClass {
		return false
	}
	for i := 0; i < len(class.Rune); i += 2 {
		if class.Rune[i+1] >= utf8.RuneSelf {
			return false
		}
		for c := class.Rune[i]; c <= class.Rune[i+1]; c++ {
			s[c] = true
		}
	}
	return true
}
