package main

import "github.com/getkin/kin-openapi/openapi3"

// mark is one x-assumed: a text, by which all that its place says is assumed, or the aspects that are.
type mark struct {
	all     bool
	aspects map[string]any
}

// marks are all those that speak about one place.
type marks []mark

var whole = mark{all: true}

func marksOf(extensions map[string]any) marks {
	switch assumed := extensions["x-assumed"].(type) {
	case string:
		return marks{whole}
	case map[string]any:
		return marks{{aspects: assumed}}
	}
	return nil
}

// cover reports that one of the aspects is assumed.
func (m marks) cover(aspects ...string) bool {
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

// overProperties is what an object's marks say about what its properties say themselves.
func (m marks) overProperties() marks {
	for _, mark := range m {
		if mark.all {
			return marks{whole}
		}
	}
	if m.cover("fieldTypes") {
		return marks{{aspects: map[string]any{"type": nil}}}
	}
	return nil
}

// ownMarks are those of a place that says something itself. What refers to a schema and says no more leaves it to that schema.
func ownMarks(ref *openapi3.SchemaRef) marks {
	if ref == nil || ref.Value == nil || ref.Ref != "" {
		return nil
	}
	return marksOf(ref.Value.Extensions)
}
