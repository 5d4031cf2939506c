// Package wire is the wire format. It says how amounts, times, queries and secrets are written, which spellings are
// equal, and what the description says about each response. It also reads responses that differ from the description.
//
// The OpenAPI files mark what the description states and what is assumed. The shapes of the responses are generated
// from them, with the fields of their Go types. A [Reader] reads a response in one pass, and compares each member with
// its shape. A member that differs is changed into the form of its field, if that can be done. Only a response that is
// in another envelope, or is not the right one at all, is brought into its form as a whole.
package wire

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"reflect"
	"strconv"
	"time"

	"github.com/shopspring/decimal"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/codec"
)

// Reader reads responses in one pass. It looks up each member in the shape, and writes it into its field. A member that
// differs from the shape is read as the normalizer reads it. The zero Reader is ready for use, for one response after
// another.
type Reader struct {
	Most       int // entries of a list; 0 for the default
	scan       codec.Scanner
	path       []step   // from the response to the object or the list that is being read
	unknown    [][]byte // unknown names in the objects that are being read
	normalizer normalizer
	entries    int // of all lists so far
	listed     int // entries of the list that proves the response; -1 if it has none, or was read in another way
}

func (r *Reader) most() int { return cmp.Or(r.Most, defaultMost) }

// step is a member of an object, or an entry of a list.
type step struct {
	member string // empty for an entry
	entry  int
}

// maxPrealloc bounds the room for the entries of a page, which has at most 100. The size of the first entry says how
// many there may be, but a hostile response can have one that is much smaller than the others.
const maxPrealloc = 128

// few is the room for the entries of a list without parts. Such lists are short.
const shortList = 4

// maxUnknown bounds the unknown names of an object, because each is compared with the others.
const maxUnknown = 64

// read reads a response. It returns false if the response must be read in another way: it is not valid JSON, is not of
// the shape's kind, or lacks a proof member.
func (r *Reader) read(body []byte, s *Shape, into any) ([]moneymovement.Unread, bool) {
	r.scan.Start(body)
	r.listed = -1
	read := r.scan.Kind() != codec.KindNull && r.value(s, into, Assumed, true) && r.scan.End()
	unread := r.normalizer.unread
	r.scan.Start(nil) // a Reader that is kept does not keep the response
	r.normalizer, r.entries = normalizer{}, 0
	clear(r.unknown[:cap(r.unknown)])
	if !read {
		r.listed = -1
	}
	return unread, read
}

// Listed returns how many entries the last page had, or -1 if the Reader did not count them.
func (r *Reader) Listed() int { return r.listed }

// value reads a value. It returns false for a value that differs from the shape. For a list, basis is the basis of its
// entries. proof says that the value is the response, or a proof of it.
func (r *Reader) value(s *Shape, into any, basis Basis, proof bool) bool {
	switch s.Kind {
	case KindObject:
		return s.Fields != nil && r.object(s, into, proof)
	case KindList:
		to, ok := into.(slice)
		return ok && r.list(s, to, basis, proof)
	case KindUnion:
		return r.union(s, into)
	}
	return r.scalar(s, into)
}

// decodeItself lets a value of another type decode itself.
func (r *Reader) decodeItself(into any) bool { return r.decode(r.scan.Raw(), into) }

// bounded reports that a part of the response has not too many entries.
func (r *Reader) bounded(raw codec.Value) bool {
	var err error
	if r.entries, err = checkEntries(raw, r.most(), r.entries); err != nil {
		return r.scan.Fail()
	}
	return true
}

// decode decodes a part of the response in its type's own way.
func (r *Reader) decode(raw codec.Value, into any) bool {
	return r.bounded(raw) && Unmarshal(raw, into) == nil
}

// object reads an object member by member.
func (r *Reader) object(s *Shape, into any, proven bool) bool {
	if !r.scan.Begins('{') {
		return false
	}
	if to, ok := into.(pointer); ok {
		into = to.fill()
	}
	var seen uint64
	outside := len(r.unknown)
	members := r.scan.Unchecked()
	for r.scan.Next(&members) {
		i, field := s.Fields(into, members.Name)
		switch {
		case i < 0:
			r.skip(members.Kept(), outside)
		case seen&(1<<i) != 0:
			return r.scan.Fail()
		default:
			seen |= 1 << i
			r.member(&s.Members[i], field, proven && s.Members[i].Proof)
		}
	}
	r.unknown = r.unknown[:outside]
	if seen&s.Must != s.Must {
		r.missing(s, seen, proven)
	}
	if s.Defaults {
		s.setDefaults(into)
	}
	return true
}

// skip skips a member that the shape does not have. It refuses a name that the object had before. outside is the number
// of unknown names in the objects around it.
func (r *Reader) skip(name []byte, outside int) {
	for _, before := range r.unknown[outside:] {
		if bytes.Equal(before, name) {
			r.scan.Fail()
		}
	}
	if len(r.unknown)-outside == maxUnknown {
		r.scan.Fail()
	}
	r.unknown = append(r.unknown, name)
	r.scan.Skip()
}

// missing notes the members that an object does not have.
func (r *Reader) missing(s *Shape, seen uint64, proven bool) {
	for i := range s.Members {
		m := &s.Members[i]
		switch {
		case seen&(1<<i) != 0:
		case proven && m.Proof:
			r.scan.Fail()
		case m.Required != 0 && !r.normalizer.full():
			r.normalizer.note(r.at(m), m.Required, "is missing")
		}
	}
}

// setDefaults sets the members that are empty and have a default.
func (s *Shape) setDefaults(object any) {
	for i := range s.Members {
		if s.Members[i].Default == "" {
			continue
		}
		_, field := s.Fields(object, []byte(s.Members[i].Name))
		if text, ok := field.(*string); ok && *text == "" {
			*text = s.Members[i].Default
		}
	}
}

// member reads a member into its field. A proof member must be as described and say something: if it does not, the
// response is read in another way.
func (r *Reader) member(m *Member, field any, proof bool) {
	if r.scan.Begins('n') {
		r.null(m, field, proof)
		return
	}
	start := r.scan.At()
	var read bool
	if m.Shape.Kind < KindObject {
		read = r.scalar(m.Shape, field)
	} else {
		r.path = append(r.path, step{member: m.Name})
		read = r.value(m.Shape, field, m.Type, proof)
		r.path = r.path[:len(r.path)-1]
	}
	switch {
	case proof && (!read || isZero(field)):
		r.scan.Fail()
	case !read:
		r.scan.Back(start)
		r.normalize(m, field)
	}
}

// isZero reports whether a field that was read is the zero value. For a pointer, it looks at what it points to.
func isZero(field any) bool {
	switch to := field.(type) {
	case *string:
		return *to == ""
	case slice:
		return false
	case pointer:
		return reflect.ValueOf(to.address()).Elem().Elem().IsZero()
	}
	return reflect.ValueOf(field).Elem().IsZero()
}

// null reads a member that is null. It counts as absent, but a list is empty.
func (r *Reader) null(m *Member, field any, proof bool) {
	r.scan.Skip()
	list, isList := field.(slice)
	switch {
	case isList && (proof || m.Required != 0):
		list.empty()
	case proof:
		r.scan.Fail()
	case m.refusesNull():
		r.normalizer.note(r.at(m), m.Required, "is null")
	}
}

// list reads the entries of a list. A list that proves a response is most of it. For such a list, the size of the first
// entry says how many there may be, and list makes room for them.
func (r *Reader) list(s *Shape, to slice, basis Basis, proof bool) bool {
	if !r.scan.Begins('[') {
		return false
	}
	to.empty()
	place := len(r.path)
	r.path = append(r.path, step{})
	entries := r.scan.Array()
	i := 0
	for ; r.scan.Entry(&entries); i++ {
		if r.entries++; i >= r.most() || r.entries > entriesFactor*r.most() {
			return r.scan.Fail()
		}
		r.path[place].entry = i
		if i == 0 && s.Item.Kind < KindObject {
			to.grow(shortList)
		}
		start := r.scan.At()
		r.entry(s.Item, to, basis, start)
		if i == 0 && proof {
			to.grow(min(r.scan.Left()/max(r.scan.At()-start, 1), maxPrealloc))
		}
	}
	if proof {
		r.listed = i
	}
	r.path = r.path[:place]
	return true
}

// entry reads an entry. It leaves out an entry that cannot be read.
func (r *Reader) entry(s *Shape, to slice, basis Basis, start int) {
	entry := to.add()
	if !r.scan.Begins('n') && r.value(s, entry, basis, false) {
		to.keep(entry)
		return
	}
	r.scan.Back(start)
	at := r.at(nil)
	raw := r.part()
	if raw == nil {
		to.drop()
		return
	}
	normalized, problem := r.normalizer.value(raw, s, at, basis)
	if problem != "" {
		r.normalizer.note(at, basis, problem)
		to.drop()
		return
	}
	r.replaceField(normalized, entry)
	to.keep(entry)
}

// part returns the next value for the normalizer, or nil if the response cannot be read.
func (r *Reader) part() codec.Value {
	raw := r.scan.Raw()
	if !r.bounded(raw) {
		return nil
	}
	return raw // nil if it is not valid JSON
}

// normalize reads a member that differs from its shape.
func (r *Reader) normalize(m *Member, field any) {
	raw := r.part()
	if raw == nil {
		return
	}
	normalized, _ := r.normalizer.member(raw, m, r.at(m), false)
	r.replaceField(normalized, field)
}

// replaceField replaces what a field holds by a value that was normalized, or by nothing.
func (r *Reader) replaceField(normalized codec.Value, field any) {
	if to, ok := field.(interface{ address() any }); ok {
		field = to.address()
	}
	reflect.ValueOf(field).Elem().SetZero()
	if normalized != nil && Unmarshal(normalized, field) != nil {
		r.scan.Fail()
	}
}

// at returns the place of a member of the object that is being read. For nil it returns the place of the object.
func (r *Reader) at(m *Member) (at codec.Pointer) {
	for _, step := range r.path {
		if step.member != "" {
			at = at.AppendToken(step.member)
		} else {
			at = at.AppendToken(strconv.Itoa(step.entry))
		}
	}
	if m != nil {
		at = at.AppendToken(m.Name)
	}
	return at
}

// scalar reads a value without parts. It returns false for a value that is not in its usual form.
func (r *Reader) scalar(s *Shape, into any) bool {
	switch to := into.(type) {
	case *string:
		return s.Kind == KindText && r.text(s, to)
	case *decimal.Decimal:
		return r.amount(to)
	case *time.Time:
		return r.time(to)
	case *int:
		n, ok := r.integer()
		*to = int(n)
		return ok && int64(*to) == n
	case *int64:
		n, ok := r.integer()
		*to = n
		return ok
	case *bool:
		kind := r.scan.Kind()
		r.scan.Skip()
		*to = kind == codec.KindTrue
		return *to || kind == codec.KindFalse
	case *[]byte:
		return s.Kind == KindBytes && r.bytes(to)
	case pointer:
		return r.scalar(s, to.fill())
	}
	return r.decodeItself(into)
}

// text reads a string. A word that the shape knows needs no memory.
func (r *Reader) text(s *Shape, to *string) bool {
	text, ok := r.scan.TryBytes()
	if !ok {
		return false
	}
	if s.ID != nil {
		*to = string(text)
		return s.ID.problem(*to) == ""
	}
	for _, word := range s.Words {
		if string(text) == word {
			*to = word
			return true
		}
	}
	*to = string(text)
	return true
}

func (r *Reader) amount(to *decimal.Decimal) bool {
	kind := r.scan.Kind()
	digits, ok := r.scan.TryBytes()
	if !ok {
		if kind != codec.KindNumber {
			return false
		}
		digits = r.scan.Raw()
	}
	amount, err := readAmount(digits, kind)
	*to = amount
	return err == nil
}

func (r *Reader) time(to *time.Time) bool {
	text, ok := r.scan.TryBytes()
	return ok && readTime(text, to)
}

// integer reads digits. It leaves every other form of a whole number to the normalizer.
func (r *Reader) integer() (n int64, ok bool) {
	const most = 18 // any number with so many digits fits an int64
	if r.scan.Kind() != codec.KindNumber {
		return 0, false
	}
	digits := r.scan.Raw()
	negative := len(digits) > 0 && digits[0] == '-'
	if negative {
		digits = digits[1:]
	}
	for _, c := range digits {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	if negative {
		n = -n
	}
	return n, 0 < len(digits) && len(digits) <= most
}

// bytes reads standard base64. It leaves other forms to the normalizer.
func (r *Reader) bytes(to *[]byte) bool {
	text, ok := r.scan.TryBytes()
	if !ok {
		return false
	}
	decoded := make([]byte, base64.StdEncoding.DecodedLen(len(text)))
	n, err := base64.StdEncoding.Decode(decoded, text)
	*to = decoded[:n]
	return err == nil && base64.StdEncoding.EncodedLen(n) == len(text) // package base64 skips line ends
}

// union lets a union decode itself, and notes what the variant lacks. It returns false for JSON that names no variant,
// and for a known variant that the union could not read. An unknown variant is kept as it is.
func (r *Reader) union(s *Shape, into any) bool {
	raw := r.scan.Raw()
	variant, named := s.variant(raw)
	switch {
	case !named || !r.decode(raw, into):
		return false
	case variant == nil:
		return true
	case s.Kept(into) != nil:
		return false
	}
	var seen uint64
	scan := codec.Over(raw)
	members := scan.Object()
	for scan.Member(&members) {
		i := variant.index(string(members.Name))
		if i < 0 {
			continue
		}
		seen |= 1 << i
		if m := &variant.Members[i]; scan.Begins('n') && m.Shape.Kind != KindList && m.refusesNull() {
			r.normalizer.note(r.at(m), m.Required, "is null")
		}
	}
	r.missing(variant, seen, false)
	return true
}

// variant returns the shape of the variant that JSON names, or nil for an unknown one. It returns false if the JSON
// names none.
func (s *Shape) variant(raw []byte) (variant *Shape, named bool) {
	scan := codec.Over(raw)
	members := scan.Object()
	for scan.Member(&members) {
		if string(members.Name) == s.By && scan.Kind() == codec.KindString {
			return s.Variants[scan.Text()], true
		}
	}
	return nil, false
}
