package wire

import (
	"bytes"
	"fmt"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// bender turns an answer that differs from its shape into the JSON that the shape's Go type is read from. It notes what it leaves out.
type bender struct {
	unread []Unread
}

// answer bends a whole answer. The envelope of a list is assumed, so that a list is recognized in another one, too.
func (b *bender) answer(body []byte, s *Shape) ([]byte, error) {
	raw := enveloped(body, s)
	if s.Kind != KindObject {
		bent, problem := b.value(raw, s, "", Assumed)
		if problem != "" {
			return nil, fmt.Errorf("answer %s", problem)
		}
		return bent, nil
	}
	bent, problem := b.object(raw, s, "", true)
	if problem != "" {
		return nil, fmt.Errorf("answer %s", problem)
	}
	return bent, nil
}

// value returns how a value is read, or what the problem with it is, as said of it: "is a number". basis is that of a list's entries.
func (b *bender) value(raw jsontext.Value, s *Shape, at jsontext.Pointer, basis Basis) (jsontext.Value, string) {
	switch s.Kind {
	case KindObject:
		return b.object(raw, s, at, false)
	case KindList:
		return b.list(raw, s, at, basis)
	case KindUnion:
		return b.union(raw, s, at, basis)
	}
	return scalar(raw, s.Kind)
}

// object reads members one by one. Those that the shape does not know stay. One that has to be proven is nothing without its proof members.
func (b *bender) object(raw jsontext.Value, s *Shape, at jsontext.Pointer, proven bool) (jsontext.Value, string) {
	if raw.Kind() != jsontext.KindBeginObject {
		return nil, is(raw)
	}
	given := split(raw)
	before := len(b.unread)
	out := jsontext.Value{'{'}
	for _, g := range given {
		read := g.value
		if m := s.member(g.name); m != nil {
			var problem string
			read, problem = b.member(g.value, m, at.AppendToken(g.name), proven && m.Proof)
			if problem != "" {
				b.unread = b.unread[:before]
				return nil, "has no " + m.Name + ": it " + problem
			}
		}
		if read != nil {
			out = appendMember(out, g.name, read)
		}
	}
	for i := range s.Members {
		m := &s.Members[i]
		switch {
		case has(given, m.Name):
		case proven && m.Proof:
			b.unread = b.unread[:before]
			return nil, "has no " + m.Name
		case m.Required != 0:
			b.note(at.AppendToken(m.Name), m.Required, "is missing")
		}
	}
	return append(out, '}'), ""
}

// member returns how a member is read, nil for not at all. Null is as good as absent where a member is optional, and an empty list is often
// spelled so. Only the problem of a proof is returned; that of another member is noted.
func (b *bender) member(raw jsontext.Value, m *Member, at jsontext.Pointer, proof bool) (jsontext.Value, string) {
	if raw.Kind() == jsontext.KindNull && m.Shape.Kind != KindList {
		switch {
		case proof:
			return nil, "is null"
		case m.Required != 0 && !m.Nullable:
			b.note(at, m.Required, "is null")
		}
		return nil, ""
	}
	var read jsontext.Value
	var problem string
	if proof && m.Shape.Kind == KindObject {
		read, problem = b.object(raw, m.Shape, at, true)
	} else {
		read, problem = b.value(raw, m.Shape, at, m.Type)
	}
	switch {
	case proof && problem == "" && empty(read):
		return nil, "is empty"
	case proof:
		return read, problem
	case problem != "":
		b.note(at, m.Type, problem)
		return nil, ""
	}
	return read, ""
}

// list leaves out the entries that cannot be read, and keeps the others.
func (b *bender) list(raw jsontext.Value, s *Shape, at jsontext.Pointer, basis Basis) (jsontext.Value, string) {
	switch raw.Kind() {
	case jsontext.KindNull:
		return jsontext.Value("[]"), ""
	case jsontext.KindBeginArray:
	default:
		return nil, is(raw)
	}
	out := jsontext.Value{'['}
	for i, entry := range entries(raw) {
		here := at.AppendToken(strconv.Itoa(i))
		read, problem := b.value(entry, s.Item, here, basis)
		if problem != "" {
			b.note(here, basis, problem)
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(out, read...)
	}
	return append(out, ']'), ""
}

// union reads the variant that is named. One that is not known stays as it is, and so does what names none: the type keeps it.
func (b *bender) union(raw jsontext.Value, s *Shape, at jsontext.Pointer, basis Basis) (jsontext.Value, string) {
	switch raw.Kind() {
	case jsontext.KindNull:
		return nil, "is null"
	case jsontext.KindBeginObject:
	default:
		b.note(at, basis, is(raw))
		return raw, ""
	}
	for _, g := range split(raw) {
		if g.name != s.By {
			continue
		}
		if g.value.Kind() != jsontext.KindString {
			b.note(at.AppendToken(s.By), s.Selects, is(g.value))
			return raw, ""
		}
		if variant := s.Variants[text(g.value)]; variant != nil {
			return b.object(raw, variant, at, false)
		}
		return raw, "" // of a later version
	}
	b.note(at.AppendToken(s.By), s.Selects, "is missing")
	return raw, ""
}

func (b *bender) note(at jsontext.Pointer, basis Basis, problem string) {
	if len(b.unread) < maxUnread {
		b.unread = append(b.unread, Unread{Pointer: string(at), Stated: basis == Stated, Problem: problem})
	}
}

// maxUnread bounds what is noted of one answer: a body of millions of entries that are nothing would take far more memory than it has bytes.
const maxUnread = 1000

// enveloped puts a list into the form that the shape has: a bare array into the envelope, and one in another envelope into its own. What is
// wrapped in the same way is an object whose whole content is one member, such as the action of an escrow deal.
func enveloped(body jsontext.Value, s *Shape) jsontext.Value {
	switch kind := body.Kind(); {
	case s.Kind == KindList && kind == jsontext.KindBeginObject:
		if only := onlyList(split(body)); only != nil {
			return only.value
		}
	case s.Kind != KindObject:
	case kind == jsontext.KindBeginArray:
		if m := s.proof(KindList); m != nil {
			return append(appendMember(jsontext.Value{'{'}, m.Name, body), '}')
		}
	case kind == jsontext.KindBeginObject:
		given := split(body)
		if m := s.proof(KindList); m != nil && !has(given, m.Name) {
			if only := onlyList(given); only != nil {
				only.name = m.Name
				return join(given)
			}
		}
		if m := s.proof(KindObject); m != nil && !has(given, m.Name) && m.Shape.provenBy(given) {
			return append(appendMember(jsontext.Value{'{'}, m.Name, body), '}')
		}
	}
	return body
}

// provenBy reports that all proof members are there.
func (s *Shape) provenBy(given []given) bool {
	proofs := 0
	for i := range s.Members {
		if s.Members[i].Proof {
			proofs++
			if !has(given, s.Members[i].Name) {
				return false
			}
		}
	}
	return proofs > 0
}

// Shows reports that a body, which is valid JSON, holds an object with a member of the shape. One that has none, such as {"ok":true}, is not
// what is shaped so.
func (s *Shape) Shows(body []byte) bool {
	if s.Kind != KindObject {
		return true
	}
	raw := enveloped(body, s)
	if raw.Kind() != jsontext.KindBeginObject {
		return false
	}
	for _, g := range split(raw) {
		if s.member(g.name) != nil {
			return true
		}
	}
	return false
}

// given is a member of an object that was sent.
type given struct {
	name  string
	value jsontext.Value
}

// split lists the members of an object, which is valid JSON.
func split(raw jsontext.Value) []given {
	dec := jsontext.NewDecoder(bytes.NewReader(raw))
	_, _ = dec.ReadToken()
	var members []given
	for dec.PeekKind() == jsontext.KindString {
		name, err := dec.ReadToken()
		if err != nil {
			break
		}
		g := given{name: name.String()}
		value, err := dec.ReadValue()
		if err != nil {
			break
		}
		g.value = value.Clone()
		members = append(members, g)
	}
	return members
}

func join(members []given) jsontext.Value {
	out := jsontext.Value{'{'}
	for _, m := range members {
		out = appendMember(out, m.name, m.value)
	}
	return append(out, '}')
}

func appendMember(out jsontext.Value, name string, value jsontext.Value) jsontext.Value {
	if len(out) > 1 {
		out = append(out, ',')
	}
	out, _ = jsontext.AppendQuote(out, name)
	return append(append(out, ':'), value...)
}

func has(members []given, name string) bool {
	for i := range members {
		if members[i].name == name {
			return true
		}
	}
	return false
}

// onlyList is the one member that is an array, or nil. What tells of errors holds no list.
func onlyList(members []given) *given {
	var only *given
	for i := range members {
		if members[i].name == "errors" || members[i].name == "error" {
			if value := string(members[i].value); value != "null" && value != "[]" {
				return nil
			}
			continue
		}
		if members[i].value.Kind() != jsontext.KindBeginArray {
			continue
		}
		if only != nil {
			return nil
		}
		only = &members[i]
	}
	return only
}

// entries lists the values of an array, which is valid JSON.
func entries(raw jsontext.Value) []jsontext.Value {
	dec := jsontext.NewDecoder(bytes.NewReader(raw))
	_, _ = dec.ReadToken()
	var all []jsontext.Value
	for dec.PeekKind() != jsontext.KindEndArray {
		value, err := dec.ReadValue()
		if err != nil {
			break
		}
		all = append(all, value.Clone())
	}
	return all
}

// empty reports a value that says nothing.
func empty(raw jsontext.Value) bool {
	switch string(raw) {
	case `""`, "{}", "null":
		return true
	}
	return false
}

// is says what a value is, where it should be something else.
func is(raw jsontext.Value) string {
	switch raw.Kind() {
	case jsontext.KindNull:
		return "is null"
	case jsontext.KindString:
		return "is a text"
	case jsontext.KindNumber:
		return "is a number"
	case jsontext.KindTrue, jsontext.KindFalse:
		return "is a boolean"
	case jsontext.KindBeginArray:
		return "is a list"
	}
	return "is an object"
}
