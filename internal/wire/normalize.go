package wire

import (
	"fmt"
	"strconv"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/codec"
)

// normalizer changes a response that differs from its shape, so that the shape's Go type can be decoded from it. It
// notes what it leaves out.
type normalizer struct {
	unread []moneymovement.Unread
}

// response changes a whole response. It also recognizes a list in another envelope, since the envelope is assumed.
func (b *normalizer) response(body []byte, s *Shape) ([]byte, error) {
	raw := enveloped(body, s)
	if s.Kind != KindObject {
		normalized, problem := b.value(raw, s, "", Assumed)
		if problem != "" {
			return nil, fmt.Errorf("the response %s", problem)
		}
		return normalized, nil
	}
	normalized, problem := b.object(raw, s, "", true)
	if problem != "" {
		return nil, fmt.Errorf("the response %s", problem)
	}
	return normalized, nil
}

// value returns the value in the form that the shape's Go type reads, or the problem, such as "is a number". For a
// list, basis is the basis of its entries.
func (b *normalizer) value(raw codec.Value, s *Shape, at codec.Pointer, basis Basis) (codec.Value, string) {
	switch s.Kind {
	case KindObject:
		return b.object(raw, s, at, false)
	case KindList:
		return b.list(raw, s, at, basis)
	case KindUnion:
		return b.union(raw, s, at, basis)
	}
	read, problem := scalar(raw, s.Kind)
	if problem == "" && s.ID != nil {
		problem = s.ID.problem(text(read))
	}
	return read, problem
}

// object reads the members one by one. It keeps members that the shape does not have. It refuses an object without its
// proof members, if they are required.
func (b *normalizer) object(raw codec.Value, s *Shape, at codec.Pointer, proven bool) (codec.Value, string) {
	if raw.Kind() != codec.KindBeginObject {
		return nil, kindOf(raw)
	}
	members := split(raw)
	before := len(b.unread)
	out := codec.Value{'{'}
	for _, g := range members {
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
		case has(members, m.Name):
		case proven && m.Proof:
			b.unread = b.unread[:before]
			return nil, "has no " + m.Name
		case m.Required != 0:
			b.note(at.AppendToken(m.Name), m.Required, "is missing")
		}
	}
	return append(out, '}'), ""
}

// member returns the member in the form that its Go type reads, or nil to leave it out. Null counts as absent. But for
// a list that has to be there, it is an empty list, which is often written as null. member returns the problem of a
// proof member only, and notes that of another member.
func (b *normalizer) member(raw codec.Value, m *Member, at codec.Pointer, proof bool) (codec.Value, string) {
	emptyList := m.Shape.Kind == KindList && (proof || m.Required != 0)
	if raw.Kind() == codec.KindNull && !emptyList {
		switch {
		case proof:
			return nil, "is null"
		case m.refusesNull():
			b.note(at, m.Required, "is null")
		}
		return nil, ""
	}
	var read codec.Value
	var problem string
	if proof && m.Shape.Kind == KindObject {
		read, problem = b.object(raw, m.Shape, at, true)
	} else {
		read, problem = b.value(raw, m.Shape, at, m.Type)
	}
	switch {
	case proof && problem == "" && m.refusesEmpty() && empty(read):
		return nil, "is empty"
	case proof:
		return read, problem
	case problem != "":
		b.note(at, m.Type, problem)
		return nil, ""
	}
	return read, ""
}

// refusesNull reports whether null is wrong for a member that is not a list.
func (m *Member) refusesNull() bool { return m.Required != 0 && !m.Nullable }

// refusesEmpty reports whether the member proves nothing if it is empty. Bytes may be empty: the code that uses them
// checks them.
func (m *Member) refusesEmpty() bool { return m.Shape.Kind != KindBytes }

// list leaves out the entries that cannot be read, and keeps the others.
func (b *normalizer) list(raw codec.Value, s *Shape, at codec.Pointer, basis Basis) (codec.Value, string) {
	switch raw.Kind() {
	case codec.KindNull:
		return codec.Value("[]"), ""
	case codec.KindBeginArray:
	default:
		return nil, kindOf(raw)
	}
	out := codec.Value{'['}
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

// union reads the variant that is named. An unknown variant stays as it is, and so does a value that names none: the Go
// type keeps them.
func (b *normalizer) union(raw codec.Value, s *Shape, at codec.Pointer, basis Basis) (codec.Value, string) {
	switch raw.Kind() {
	case codec.KindNull:
		return nil, "is null"
	case codec.KindBeginObject:
	default:
		b.note(at, basis, kindOf(raw))
		return raw, ""
	}
	for _, g := range split(raw) {
		if g.name != s.By {
			continue
		}
		if g.value.Kind() != codec.KindString {
			b.note(at.AppendToken(s.By), s.Selects, kindOf(g.value))
			return raw, ""
		}
		if variant := s.Variants[text(g.value)]; variant != nil {
			return b.object(raw, variant, at, false)
		}
		return raw, "" // a variant of a later version
	}
	b.note(at.AppendToken(s.By), s.Selects, "is missing")
	return raw, ""
}

// full reports that no more is noted.
func (b *normalizer) full() bool { return len(b.unread) == maxUnread }

func (b *normalizer) note(at codec.Pointer, basis Basis, problem string) {
	if !b.full() {
		b.unread = append(b.unread, moneymovement.Unread{Pointer: string(at), Stated: basis == Stated,
			Problem: problem})
	}
}

// maxUnread bounds the notes about one response. A body of millions of wrong entries would otherwise take far more
// memory than it has bytes.
const maxUnread = 1000

// enveloped puts a list into the shape's envelope. The list may be a bare array, or be in another envelope. An object
// whose only member holds the value, such as the action of an escrow, is unwrapped in the same way.
func enveloped(body codec.Value, s *Shape) codec.Value {
	switch kind := body.Kind(); {
	case s.Kind == KindList && kind == codec.KindBeginObject:
		if only := onlyList(split(body)); only != nil {
			return only.value
		}
	case s.Kind != KindObject:
	case kind == codec.KindBeginArray:
		if m := s.proof(KindList); m != nil {
			return append(appendMember(codec.Value{'{'}, m.Name, body), '}')
		}
	case kind == codec.KindBeginObject:
		members := split(body)
		if m := s.proof(KindList); m != nil && !has(members, m.Name) {
			if only := onlyList(members); only != nil {
				only.name = m.Name
				return join(members)
			}
		}
		if m := s.proof(KindObject); m != nil && !has(members, m.Name) && m.Shape.provenBy(members) {
			return append(appendMember(codec.Value{'{'}, m.Name, body), '}')
		}
	}
	return body
}

// provenBy reports that all proof members are there.
func (s *Shape) provenBy(members []objectMember) bool {
	proofs := 0
	for i := range s.Members {
		if s.Members[i].Proof {
			proofs++
			if !has(members, s.Members[i].Name) {
				return false
			}
		}
	}
	return proofs > 0
}

// HasResource reports that a body, which is [Valid], holds an object with a member of the shape. A body without one,
// such as {"ok":true}, does not show the resource.
func (s *Shape) HasResource(body []byte) bool {
	if s.Kind != KindObject {
		return true
	}
	body, _ = ReplaceInvalidText(body)
	raw := enveloped(body, s)
	if raw.Kind() != codec.KindBeginObject {
		return false
	}
	for _, g := range split(raw) {
		if s.member(g.name) != nil {
			return true
		}
	}
	return false
}

// objectMember is a member of an object in a response.
type objectMember struct {
	name  string
	value codec.Value
}

// split returns the members of an object, which is valid JSON. The values are parts of it.
func split(raw codec.Value) (members []objectMember) {
	scan := codec.Over(raw)
	object := scan.Unchecked()
	for scan.Next(&object) {
		members = append(members, objectMember{name: string(object.Name), value: scan.Raw()})
	}
	return members
}

func join(members []objectMember) codec.Value {
	out := codec.Value{'{'}
	for _, m := range members {
		out = appendMember(out, m.name, m.value)
	}
	return append(out, '}')
}

func appendMember(out codec.Value, name string, value codec.Value) codec.Value {
	if len(out) > 1 {
		out = append(out, ',')
	}
	out, _ = codec.AppendQuote(out, name)
	return append(append(out, ':'), value...)
}

func has(members []objectMember, name string) bool {
	for i := range members {
		if members[i].name == name {
			return true
		}
	}
	return false
}

// onlyList returns the only member that is an array, or nil. An object that reports errors holds no list.
func onlyList(members []objectMember) *objectMember {
	var only *objectMember
	for i := range members {
		if members[i].name == "errors" || members[i].name == "error" {
			if value := string(members[i].value); value != "null" && value != "[]" {
				return nil
			}
			continue
		}
		if members[i].value.Kind() != codec.KindBeginArray {
			continue
		}
		if only != nil {
			return nil
		}
		only = &members[i]
	}
	return only
}

// entries returns the values of an array, which is valid JSON. They are parts of it.
func entries(raw codec.Value) (all []codec.Value) {
	scan := codec.Over(raw)
	array := scan.Array()
	for scan.Entry(&array) {
		all = append(all, scan.Raw())
	}
	return all
}

// empty reports a value without content.
func empty(raw codec.Value) bool {
	switch string(raw) {
	case `""`, "{}", "null":
		return true
	}
	return false
}

// kindOf returns the kind of a value, for a problem such as "is a number".
func kindOf(raw codec.Value) string {
	switch raw.Kind() {
	case codec.KindNull:
		return "is null"
	case codec.KindString:
		return "is a string"
	case codec.KindNumber:
		return "is a number"
	case codec.KindTrue, codec.KindFalse:
		return "is a boolean"
	case codec.KindBeginArray:
		return "is an array"
	}
	return "is an object"
}
