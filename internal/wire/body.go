package wire

import (
	"bytes"

	"github.com/moneymovement/moneymovement-go/internal/jsonv2"
)

// NewBody returns a whole body, which is valid JSON.
func NewBody(raw []byte) Body { return Body{raw: raw} }

// Body is the body of a response. It knows whether a zero field has the value zero in the response, or is missing
// there. The zero Body does not know.
type Body struct {
	raw     []byte // valid JSON
	entries int    // entries of the list in question; 0 for the outermost object
	counted []count
}

// count returns how often the body has a member with this name.
type count struct {
	name  string
	times int
}

// Entries returns the body for questions about the entries of a list, which is in the outermost object.
func (b *Body) Entries(n int) Body {
	if b == nil || b.entries > 0 {
		return Body{}
	}
	return Body{raw: b.raw, entries: n}
}

// SaysZero reports that the response has the member of a zero field, and that the member is not null. For the entries
// of a list it compares the number of members with the number of entries, so that a response with many zeros is not
// read twice. It does not look at members deeper down.
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

// memberOf returns the bytes after the name of a member of the outermost object, or nil.
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
