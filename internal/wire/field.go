package wire

import "slices"

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
	// whole returns the address of the field.
	whole() any
}

type optionalOf[T any] struct{ at **T }

func (o optionalOf[T]) fill() any {
	*o.at = new(T)
	return *o.at
}

func (o optionalOf[T]) whole() any { return o.at }

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
	// whole returns the address of the field.
	whole() any
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

func (l entriesOf[T]) whole() any { return l.at }

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

func (w wordsOf[T]) whole() any { return w.at }
