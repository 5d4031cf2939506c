package description

import "github.com/getkin/kin-openapi/openapi3"

// Mark is one x-assumed: a text, by which all that its place says is assumed, or the aspects that are.
type Mark struct {
	all     bool
	aspects map[string]any
}

// Marks are all those that speak about one place.
type Marks []Mark

// Whole is the mark of a place that is assumed in all that it says.
var Whole = Mark{all: true}

// MarksOf are the marks of a place, which its extensions hold.
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

// OverProperties is what an object's marks say about what its properties say themselves.
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

// OwnMarks are those of a place that says something itself. What refers to a schema and says no more leaves it to that
// schema.
func OwnMarks(ref *openapi3.SchemaRef) Marks {
	if ref == nil || ref.Value == nil || ref.Ref != "" {
		return nil
	}
	return MarksOf(ref.Value.Extensions)
}
