package codec

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"
)

// Scanner reads one JSON value that is in memory, forward and without allocations. It accepts exactly what [Unmarshal]
// accepts: it refuses duplicate names, invalid UTF-8, and anything after the value. After a mistake in the text it is
// at the end, and everything reads as nothing. It does not say what is wrong: for the error, give the text to
// [Unmarshal].
//
// Every value can be read as every kind. A value of another kind is skipped, and reads as nothing:
//
//	s := codec.Over(body)
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
type Scanner struct {
	text  []byte
	at    int
	depth int
	bad   bool

	room   []byte // for a string with escapes
	shared string // a copy of the end of the text; "" if each text is copied by itself
}

// deepest is how many objects and arrays may be inside each other, as in JSON v2.
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

// Kind returns the kind of the next value, or KindInvalid if none begins there.
func (s *Scanner) Kind() Kind {
	switch c := s.peek(); c {
	case '{', '[', '"', 't', 'f', 'n':
		return Kind(c)
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return KindNumber
	}
	return KindInvalid
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
	case KindBeginObject:
		members := s.Object()
		for s.Member(&members) {
			s.Skip()
		}
	case KindBeginArray:
		entries := s.Array()
		for s.Entry(&entries) {
			s.Skip()
		}
	case KindString:
		s.quoted()
	case KindNumber:
		s.number()
	case KindTrue:
		s.word("true")
	case KindFalse:
		s.word("false")
	case KindNull:
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
	if s.Kind() != KindString {
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
	text, _ = AppendUnquote(s.room[:0], s.text[s.at-len(inner)-len(`""`):s.at]) // quoted has checked it
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

// Unchecked is an object that is being read by a program that checks by itself that no name is there twice.
type Unchecked struct {
	sequence
	// Name is the name of the present member, until the next string is read. It may be a part of the text.
	Name []byte

	at      place // of the name
	escaped bool  // the name has escapes, and is not a part of the text
}

// Kept returns the name, for as long as the text is there.
func (u *Unchecked) Kept() []byte {
	if u.escaped {
		return bytes.Clone(u.Name)
	}
	return u.Name
}

// place is a part of the text.
type place struct{ start, end int }

// Unchecked begins to read an object. Any other value is skipped, and has no members.
func (s *Scanner) Unchecked() Unchecked { return Unchecked{sequence: s.enter('{')} }

// Next moves to the next member, and to its value. It returns false at the end of the object. Read the value as a
// whole, or not at all.
func (s *Scanner) Next(u *Unchecked) bool {
	if s.nextUsual(u) {
		return true
	}
	if !s.next(&u.sequence, '}') {
		return false
	}
	if s.peek() != '"' {
		return s.Fail()
	}
	u.Name, u.escaped = s.unquoted()
	end := s.at - len(`"`)
	u.at = place{end - len(u.Name), end}
	if s.peek() != ':' {
		return s.Fail()
	}
	s.at++
	s.peek()
	u.unread = s.at
	return true
}

// nextUsual is Next for text without spaces and a name of ASCII without escapes, behind a value that was read. It
// returns false for any other text, and does not move then.
func (s *Scanner) nextUsual(u *Unchecked) bool {
	start := s.at
	if u.unread > 0 {
		if start == u.unread || !s.Begins(',') {
			return false
		}
		start++
	}
	if !u.open || start >= len(s.text) || s.text[start] != '"' {
		return false
	}
	start++
	end := usual(s.text, start)
	if end+len(`":`) >= len(s.text) || s.text[end] != '"' || s.text[end+1] != ':' || s.text[end+2] <= ' ' {
		return false
	}
	u.Name, u.escaped = s.text[start:end:end], false
	u.at = place{start, end}
	s.at = end + len(`":`)
	u.unread = s.at
	return true
}
