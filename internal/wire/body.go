package wire

import (
	"bytes"

	"github.com/moneymovement/moneymovement-go/internal/jsonv2"
)

// NewBody returns a whole body, which is valid JSON.
func NewBody(raw []byte) Body { return Body{raw: raw} }

// Body is the body of a response. It says whether a field that is zero is zero in the response. The zero Body does not
// know.
type Body struct {
	raw     []byte // valid JSON
	entries int    // of the list that is looked at, 0 for the outermost object
	counted []count
}

// count returns how often a member of a name is in the body.
type count struct {
	name  string
	times int
}

// Entries returns the body for questions about the entries of a list in the outermost object.
func (b *Body) Entries(n int) Body {
	if b == nil || b.entries > 0 {
		return Body{}
	}
	return Body{raw: b.raw, entries: n}
}

// SaysZero reports that the member of a zero field is there, and not null. For the entries of a list it compares the
// number of members with the number of entries, so that a response with many zeros is not read twice. It does not know
// about members deeper down.
func (b *Body) SaysZero(name string) bool {
	switch {
	case b == nil || b.raw == nil:
		return false
	case b.entries == 0:
		value := memberOf(b.raw, name)
		return value != nil && !bytes.HasPrefix(value, []byte("null"))
	}
	for _, c := range b.counted {
		if c.name == name {
			return c.times >= b.entries
		}
	}
	times := bytes.Count(b.raw, []byte(`"`+name+`":`)) - bytes.Count(b.raw, []byte(`"`+name+`":null`))
	b.counted = append(b.counted, count{name, times})
	return times >= b.entries
}

// memberOf returns what follows the name of a member of the outermost object, or nil.
func memberOf(body []byte, name string) []byte {
	depth := 0
	for i := 0; i < len(body); i++ {
		switch body[i] {
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		case '"':
			end := i + 1
			for ; body[end] != '"'; end++ {
				if body[end] == '\\' {
					end++
				}
			}
			if depth == 1 && end-i-1 == len(name) && string(body[i+1:end]) == name {
				if rest := skipSpace(body[end+1:]); len(rest) > 0 && rest[0] == ':' {
					return skipSpace(rest[1:])
				}
			}
			i = end
		}
	}
	return nil
}

func skipSpace(text []byte) []byte {
	for len(text) > 0 && (text[0] == ' ' || text[0] == '\t' || text[0] == '\r' || text[0] == '\n') {
		text = text[1:]
	}
	return text
}

// Unread reports that the content of a union was not read: it names no variant, or a known one that could not be read.
// An unknown variant is kept as it is.
func (s *Shape) Unread(raw jsonv2.Value) bool {
	named := memberOf(raw, s.By)
	if len(named) == 0 || named[0] != '"' {
		return true
	}
	end := bytes.IndexByte(named[1:], '"')
	_, known := s.Variants[string(named[1:end+1])]
	return known
}
