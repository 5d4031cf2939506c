// Package description reads the OpenAPI files for the generators: what they refer to, and what they mark as assumed.
package description

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// Load reads a file, and those that it refers to.
func Load(path string) (*openapi3.T, error) {
	loader := openapi3.NewLoader()
	loader.IsExternalRefsAllowed = true
	return loader.LoadFromFile(path)
}

// SortedKeys are those of a map, so that what is generated comes in one order.
func SortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

// RefName is the name at the end of a reference.
func RefName(ref string) string { return ref[strings.LastIndex(ref, "/")+1:] }
