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
