package wire

import (
	"slices"
)

// Shape is what the description says about a JSON value of a response. The generator writes one for each schema.
type Shape struct {
	Kind     Kind
	Members  []Member          // of an object, at most 64
	Fields   Fields            // of an object's Go type; nil for a type that decodes itself
	Must     uint64            // a bit for each member of an object that is required or proves it
	Defaults bool              // some members of an object have one
	Words    []string          // known words of a text
	ID       *IDForm           // of a text that is an id
	Item     *Shape            // of a list
	By       string            // the member that selects the variant of a union
	Selects  Basis             // basis of By: whether the description states it
	Variants map[string]*Shape // variants of a union, by that member's value
	// Kept returns the JSON that a union's Go type keeps because it could not read it, or nil.
	Kept func(union any) []byte
}

// Kind is the form of a value.
type Kind uint8

// The kinds. The description names no members of an open object.
const (
	KindAny Kind = iota
	KindText
	KindAmount
	KindInteger
	KindInteger64
	KindBoolean
	KindTime
	KindDate
	KindBytes
	KindOpen
	KindObject
	KindList
	KindUnion
)

// The shapes of values without parts.
var (
	Any       = Shape{Kind: KindAny}
	Text      = Shape{Kind: KindText}
	Amount    = Shape{Kind: KindAmount}
	Integer   = Shape{Kind: KindInteger}
	Integer64 = Shape{Kind: KindInteger64}
	Boolean   = Shape{Kind: KindBoolean}
	Time      = Shape{Kind: KindTime}
	Date      = Shape{Kind: KindDate}
	Bytes     = Shape{Kind: KindBytes}
	Open      = Shape{Kind: KindOpen}
)

// Member is what the description says about a member of an object.
type Member struct {
	Name     string
	Shape    *Shape
	Type     Basis // basis of its type
	Required Basis // basis of its being required; 0 if it is optional
	Nullable bool
	Default  string // of a text that is absent, null or empty
	Proof    bool   // a response without it is not the resource; ignored in a part of a response
}

// Basis says whether something in the OpenAPI files is stated or assumed.
type Basis uint8

// The bases. The files assume something where the description is silent.
const (
	Assumed Basis = iota + 1
	Stated
)

// ProvenBy returns the shape with more proof members.
func (s *Shape) ProvenBy(names ...string) *Shape {
	proven := *s
	proven.Members = slices.Clone(s.Members)
	for i := range proven.Members {
		if slices.Contains(names, proven.Members[i].Name) {
			proven.Members[i].Proof = true
			proven.Must |= 1 << i
		}
	}
	return &proven
}

// member returns the member with this name, or nil.
func (s *Shape) member(name string) *Member {
	if i := s.index(name); i >= 0 {
		return &s.Members[i]
	}
	return nil
}

// index returns the index of the member with this name, or -1.
func (s *Shape) index(name string) int {
	for i := range s.Members {
		if s.Members[i].Name == name {
			return i
		}
	}
	return -1
}

// proof returns the first proof member of a kind, or nil. For the envelope of a list it is the list.
func (s *Shape) proof(kind Kind) *Member {
	for i := range s.Members {
		if s.Members[i].Proof && s.Members[i].Shape.Kind == kind {
			return &s.Members[i]
		}
	}
	return nil
}

// Fields returns the index of a member in its shape, and the field that the member is read into. It returns -1 for a
// name that the shape does not have. object is a pointer to the shape's Go type. The generator writes a Fields for each
// object.
//
// A field is a pointer to a string, a number, a time and so on, also for a type that is defined as one of them. It is
// an [Optional] for a pointer that is nil if the member is absent, and a [List] or [Words] for a list. A field of
// another type decodes itself.
type Fields func(object any, name []byte) (member int, field any)

// Optional returns a field that is a pointer.
func Optional[T any](field **T) any { return optionalOf[T]{field} }

// List returns a field that is a slice.
func List[T any](field *[]T) any { return entriesOf[T]{field} }

// Words returns a field that is a slice of a type of words.
func Words[T ~string](field *[]T) any { return wordsOf[T]{field} }

// pointer is a field that is a pointer.
type pointer interface {
	// fill sets the pointer to a new value, and returns the value's address.
	fill() any
	// address returns the address of the field.
	address() any
}

type optionalOf[T any] struct{ at **T }

func (o optionalOf[T]) fill() any {
	*o.at = new(T)
	return *o.at
}

func (o optionalOf[T]) address() any { return o.at }

// slice is a field that is a slice.
type slice interface {
	// empty makes the slice empty, and not nil.
	empty()
	// grow makes room for more entries.
	grow(room int)
	// add adds an entry to read into, and returns its address.
	add() any
	// keep keeps the entry that was added last, and drop removes it.
	keep(entry any)
	drop()
	// address returns the address of the field.
	address() any
}

type entriesOf[T any] struct{ at *[]T }

func (l entriesOf[T]) empty() { *l.at = []T{} }

func (l entriesOf[T]) grow(room int) { *l.at = slices.Grow(*l.at, room) }

func (l entriesOf[T]) add() any {
	n := len(*l.at)
	*l.at = slices.Grow(*l.at, 1)[:n+1]
	return &(*l.at)[n]
}

func (l entriesOf[T]) keep(any) {}

func (l entriesOf[T]) drop() {
	n := len(*l.at) - 1
	clear((*l.at)[n:])
	*l.at = (*l.at)[:n]
}

func (l entriesOf[T]) address() any { return l.at }

// wordsOf has entries that are read as strings.
type wordsOf[T ~string] struct{ at *[]T }

func (w wordsOf[T]) empty() { *w.at = []T{} }

func (w wordsOf[T]) grow(room int) { *w.at = slices.Grow(*w.at, room) }

func (w wordsOf[T]) add() any { return new(string) }

func (w wordsOf[T]) keep(entry any) {
	if word, ok := entry.(*string); ok {
		*w.at = append(*w.at, T(*word))
	}
}

func (w wordsOf[T]) drop() {}

func (w wordsOf[T]) address() any { return w.at }
