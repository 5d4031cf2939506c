// Package description reads the OpenAPI files for the generators: the schemas, and the marks of assumptions.
package description

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// Load reads a file, and the files that it refers to.
func Load(path string) (*openapi3.T, error) {
	loader := openapi3.NewLoader()
	loader.IsExternalRefsAllowed = true
	return loader.LoadFromFile(path)
}

// SortedKeys returns the keys of a map in order, so that generated code has one order.
func SortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

// RefName returns the name at the end of a reference.
func RefName(ref string) string { return ref[strings.LastIndex(ref, "/")+1:] }

// Mark is one x-assumed: a text, which covers everything that its place says, or aspects, which cover only those.
type Mark struct {
	all     bool
	aspects map[string]any
}

// Marks are all marks that cover one place.
type Marks []Mark

// Whole is the mark of a place that is assumed as a whole.
var Whole = Mark{all: true}

// MarksOf returns the marks in the extensions of a place.
func MarksOf(extensions map[string]any) Marks {
	switch assumed := extensions["x-assumed"].(type) {
	case string:
		return Marks{Whole}
	case map[string]any:
		return Marks{{aspects: assumed}}
	}
	return nil
}

// Cover reports that one of the aspects is assumed.
func (m Marks) Cover(aspects ...string) bool {
	for _, mark := range m {
		if mark.all {
			return true
		}
		for _, aspect := range aspects {
			if _, is := mark.aspects[aspect]; is {
				return true
			}
		}
	}
	return false
}

// OverProperties returns the marks of an object that cover what its properties say themselves.
func (m Marks) OverProperties() Marks {
	for _, mark := range m {
		if mark.all {
			return Marks{Whole}
		}
	}
	if m.Cover("fieldTypes") {
		return Marks{{aspects: map[string]any{"type": nil}}}
	}
	return nil
}

// OwnMarks returns the marks of a place that says something itself. A place that only refers to a schema has none: the
// marks of that schema count.
func OwnMarks(ref *openapi3.SchemaRef) Marks {
	if ref == nil || ref.Value == nil || ref.Ref != "" {
		return nil
	}
	return MarksOf(ref.Value.Extensions)
}
