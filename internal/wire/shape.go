package wire

import "slices"

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
