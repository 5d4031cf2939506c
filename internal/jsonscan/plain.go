package jsonscan

import "bytes"

// Plain is an object that is being read by a program that checks by itself that no name is there twice.
type Plain struct {
	sequence
	// Name is the name of the present member, until the next string is read. It may be a part of the text.
	Name []byte

	at      place // of the name
	escaped bool  // the name has escapes, and is not a part of the text
}

// Kept returns the name, for as long as the text is there.
func (p *Plain) Kept() []byte {
	if p.escaped {
		return bytes.Clone(p.Name)
	}
	return p.Name
}

// place is a part of the text.
type place struct{ start, end int }

// Plain begins to read an object. Any other value is skipped, and has no members.
func (s *Scanner) Plain() Plain { return Plain{sequence: s.enter('{')} }

// Next moves to the next member, and to its value. It returns false at the end of the object. Read the value as a
// whole, or not at all.
func (s *Scanner) Next(p *Plain) bool {
	if s.nextUsual(p) {
		return true
	}
	if !s.next(&p.sequence, '}') {
		return false
	}
	if s.peek() != '"' {
		return s.fail()
	}
	p.Name, p.escaped = s.unquoted()
	end := s.at - len(`"`)
	p.at = place{end - len(p.Name), end}
	if s.peek() != ':' {
		return s.fail()
	}
	s.at++
	s.peek()
	p.unread = s.at
	return true
}

// nextUsual is Next for text without spaces and a name of ASCII without escapes, behind a value that was read. It
// returns false for any other text, and does not move then.
func (s *Scanner) nextUsual(p *Plain) bool {
	start := s.at
	if p.unread > 0 {
		if start == p.unread || !s.Begins(',') {
			return false
		}
		start++
	}
	if !p.open || start >= len(s.text) || s.text[start] != '"' {
		return false
	}
	start++
	end := usual(s.text, start)
	if end+len(`":`) >= len(s.text) || s.text[end] != '"' || s.text[end+1] != ':' || s.text[end+2] <= ' ' {
		return false
	}
	p.Name, p.escaped = s.text[start:end:end], false
	p.at = place{start, end}
	s.at = end + len(`":`)
	p.unread = s.at
	return true
}

// Begins reports whether the next value begins with a character.
func (s *Scanner) Begins(c byte) bool { return s.at < len(s.text) && s.text[s.at] == c }

// String reads a string, and returns what it says, until the next string is read. It returns false for any other
// value, and does not read that.
func (s *Scanner) String() ([]byte, bool) {
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

// Fail refuses the text. It returns false.
func (s *Scanner) Fail() bool { return s.fail() }
