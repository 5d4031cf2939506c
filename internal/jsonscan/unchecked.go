package jsonscan

import "bytes"

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
