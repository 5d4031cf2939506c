package wire

import "github.com/moneymovement/moneymovement-go/internal/codec"

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
			r.bends.note(r.at(m), m.Required, "is null")
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
