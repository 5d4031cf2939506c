// Package jsonscan reads JSON that is in memory, forward and without allocations. It accepts exactly what package
// jsonv2 accepts: it refuses duplicate names, invalid UTF-8, and anything after the value. It does not say what is
// wrong: for the error, give the text to jsonv2.Unmarshal.
//
// Every value can be read as every kind. A value of another kind is skipped, and reads as nothing:
//
//	s := jsonscan.Over(body)
//	members := s.Object()
//	for s.Member(&members) {
//		switch string(members.Name) {
//		case "code":
//			code = s.Text()
//		}
//	}
//	valid := s.End()
//
// Declare the object before the loop. A variable of the loop itself would be copied for each member.
package jsonscan

import (
	"bytes"

	"github.com/moneymovement/moneymovement-go/internal/jsonv2"
)

// Scanner reads one JSON value. After a mistake in the text it is at the end, and everything reads as nothing.
type Scanner struct {
	text  []byte
	at    int
	depth int
	bad   bool

	room   []byte // for a string with escapes
	shared string // a copy of the end of the text; "" if each text is copied by itself
}

// deepest is how many objects and arrays may be inside each other, as in jsonv2.
const deepest = 10000

// Over returns a scanner of a text.
func Over(text []byte) Scanner { return Scanner{text: text} }

// Start begins with another text, and keeps the scanner's memory.
func (s *Scanner) Start(text []byte) {
	*s = Scanner{text: text, room: s.room[:0:min(cap(s.room), mostRoom)]}
}

// mostRoom bounds the memory that a scanner keeps from one text to the next.
const mostRoom = 4 << 10

// End reports whether the value that was read is valid, and nothing follows it.
func (s *Scanner) End() bool { return s.peek() == 0 && !s.bad && s.at == len(s.text) }

// Kind returns the kind of the next value, or jsonv2.KindInvalid if none begins there.
func (s *Scanner) Kind() jsonv2.Kind {
	switch c := s.peek(); c {
	case '{', '[', '"', 't', 'f', 'n':
		return jsonv2.Kind(c)
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return jsonv2.KindNumber
	}
	return jsonv2.KindInvalid
}

// Begins reports whether the next value begins with a character.
func (s *Scanner) Begins(c byte) bool { return s.at < len(s.text) && s.text[s.at] == c }

// At returns where the scanner is. That is where a value begins that is read next.
func (s *Scanner) At() int { return s.at }

// Back goes back to where a value begins, to read it again.
func (s *Scanner) Back(at int) {
	if !s.bad {
		s.at = at
	}
}

// Left returns how many bytes are not read yet.
func (s *Scanner) Left() int { return len(s.text) - s.at }

// Skip reads a value of any kind.
func (s *Scanner) Skip() {
	switch s.Kind() {
	case jsonv2.KindBeginObject:
		members := s.Object()
		for s.Member(&members) {
			s.Skip()
		}
	case jsonv2.KindBeginArray:
		entries := s.Array()
		for s.Entry(&entries) {
			s.Skip()
		}
	case jsonv2.KindString:
		s.quoted()
	case jsonv2.KindNumber:
		s.number()
	case jsonv2.KindTrue:
		s.word("true")
	case jsonv2.KindFalse:
		s.word("false")
	case jsonv2.KindNull:
		s.word("null")
	default:
		s.Fail()
	}
}

// Raw reads a value of any kind, and returns its part of the text.
func (s *Scanner) Raw() []byte {
	s.peek()
	start := s.at
	s.Skip()
	if s.bad {
		return nil
	}
	return s.text[start:s.at:s.at]
}

// Text reads a string. Any other value reads as "".
func (s *Scanner) Text() string {
	text, escaped := s.string()
	if end := len(s.shared) - len(s.text) + s.at - len(`"`); !escaped && end >= len(text) {
		return s.shared[end-len(text) : end]
	}
	return string(text)
}

// Bytes is Text without a copy. If the string has no escapes, the result is a part of the text. Otherwise it is valid
// until the next string is read.
func (s *Scanner) Bytes() []byte {
	text, _ := s.string()
	return text
}

func (s *Scanner) string() (text []byte, escaped bool) {
	if s.Kind() != jsonv2.KindString {
		s.Skip()
		return nil, false
	}
	return s.unquoted()
}

// TryBytes is Bytes for a string. It returns false for any other value, and does not read that.
func (s *Scanner) TryBytes() ([]byte, bool) {
	if !s.Begins('"') {
		return nil, false
	}
	start := s.at + 1
	if end := usual(s.text, start); end < len(s.text) && s.text[end] == '"' {
		s.at = end + 1
		return s.text[start:end:end], true
	}
	text, _ := s.unquoted()
	return text, !s.bad
}

// Share copies the rest of the text once. The texts that are read next are parts of this copy, and need no memory of
// their own. Use it if they are most of the rest, because each of them keeps the whole copy in memory.
func (s *Scanner) Share() { s.shared = string(s.text[s.at:]) }

// Array begins to read an array. Any other value is skipped, and has no entries.
func (s *Scanner) Array() Array { return Array{s.enter('[')} }

// Object begins to read an object. Any other value is skipped, and has no members.
func (s *Scanner) Object() Object { return Object{Unchecked: s.Unchecked()} }

// Array is an array that is being read.
type Array struct{ sequence }

// Entry moves to the next entry. It returns false at the end of the array. Read the entry as a whole, or not at all.
func (s *Scanner) Entry(a *Array) bool { return s.next(&a.sequence, ']') }

// Object is an object that is being read. It does not hold its scanner, which would then have to be on the heap.
type Object struct {
	Unchecked

	few   [8]place // of the names up to here
	count int
	many  map[string]struct{} // in place of few, if they are more or one has escapes
}

// Member moves to the next member. It returns false at the end of the object, and for a name that the object had
// before. Read the member's value as a whole, or not at all.
func (s *Scanner) Member(o *Object) bool { return s.Next(&o.Unchecked) && (s.first(o) || s.Fail()) }

// first notes the name, and reports whether the object did not have it before.
func (s *Scanner) first(o *Object) bool {
	if o.many == nil && !o.escaped && o.count < len(o.few) {
		for _, earlier := range o.few[:o.count] {
			if bytes.Equal(s.text[earlier.start:earlier.end], o.Name) {
				return false
			}
		}
		o.few[o.count] = o.at
		o.count++
		return true
	}
	if o.many == nil {
		o.many = make(map[string]struct{}, 2*len(o.few))
		for _, earlier := range o.few[:o.count] {
			o.many[string(s.text[earlier.start:earlier.end])] = struct{}{}
		}
	}
	before := len(o.many)
	o.many[string(o.Name)] = struct{}{}
	return len(o.many) > before
}

// sequence is what objects and arrays have in common.
type sequence struct {
	open   bool
	unread int // where the present member or entry begins; 0 before the first one
}

func (s *Scanner) enter(begin byte) sequence {
	if s.peek() != begin {
		s.Skip()
		return sequence{}
	}
	if s.depth++; s.depth > deepest {
		return sequence{open: s.Fail()}
	}
	s.at++
	return sequence{open: true}
}

// next moves behind the comma. It skips a member or entry that was not read.
func (s *Scanner) next(q *sequence, end byte) bool {
	if !q.open {
		return false
	}
	if s.at == q.unread {
		s.Skip()
	}
	switch c := s.peek(); {
	case c == end:
		s.at++
		s.depth--
		q.open = false
		return false
	case q.unread == 0: // the first one has no comma
	case c == ',':
		s.at++
		s.peek()
	default:
		return s.Fail()
	}
	q.unread = s.at
	return !s.bad
}

// peek returns the next character that is not a space, or 0 at the end.
func (s *Scanner) peek() byte {
	for ; s.at < len(s.text); s.at++ {
		switch c := s.text[s.at]; c {
		case ' ', '\t', '\r', '\n':
		default:
			return c
		}
	}
	return 0
}

// Fail refuses the text: it goes to its end. It returns false.
func (s *Scanner) Fail() bool {
	s.at, s.bad = len(s.text), true
	return false
}
