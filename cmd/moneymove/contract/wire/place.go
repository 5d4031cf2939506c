package wire

import (
	"fmt"
	"strings"
)

// place is the path from the root of a file to a node. Its text is the name of the place in openapi/README.md.
type place struct {
	root  Node
	steps []step
}

// step is a key of a mapping, or an entry of a list.
type step struct {
	key   string
	entry Node
	index int
}

func (p place) member(key string) place { return p.with(step{key: key}) }

func (p place) entry(index int, entry Node) place { return p.with(step{entry: entry, index: index}) }

func (p place) with(s step) place {
	return place{p.root, append(p.steps[:len(p.steps):len(p.steps)], s)}
}

func (p place) String() string {
	switch {
	case len(p.steps) == 0:
		return "the file"
	case len(p.steps) >= 3 && p.steps[0].key == "paths":
		path, method := p.steps[1].key, p.steps[2].key
		name := p.root.At("paths", path, method, "operationId").Text()
		if name == "" {
			name = strings.ToUpper(method) + " " + path
		}
		return inWords(name, p.steps[3:])
	case len(p.steps) >= 3 && p.steps[0].key == "components" && p.steps[1].key == "schemas":
		return inWords(p.steps[2].key, p.steps[3:])
	case len(p.steps) >= 3 && p.steps[0].key == "components":
		return inWords(strings.TrimSuffix(p.steps[1].key, "s")+" "+p.steps[2].key, p.steps[3:])
	default:
		return strings.TrimPrefix(inWords("", p.steps), ".")
	}
}

// inWords appends the steps inside an operation or a component to its name.
func inWords(name string, steps []step) string {
	var words strings.Builder
	words.WriteString(name)
	for i := 0; i < len(steps); i++ {
		s, last := steps[i], i+1 == len(steps)
		switch {
		case s.entry.Exists():
			words.WriteString(entryName(s))
		case s.key == "parameters", s.key == "properties" && !last: // the next step names it
		case s.key == "responses" && !last:
			i++
			words.WriteString(" answer " + steps[i].key)
		case s.key == "items":
			words.WriteString("[]")
		default:
			words.WriteString("." + s.key)
		}
	}
	return words.String()
}

// entryName names an entry of a list by its name or id, or else by its index.
func entryName(s step) string {
	if in, name := s.entry.At("in").Text(), s.entry.At("name").Text(); in != "" && name != "" {
		switch in {
		case "query":
			return " ?" + name
		case "path":
			return " {" + name + "}"
		default:
			return " " + in + " " + name
		}
	}
	for _, key := range []string{"slug", "method", "name", "currency", "factor"} {
		if id := s.entry.At(key).Text(); id != "" {
			return "." + id
		}
	}
	return fmt.Sprintf("[%d]", s.index)
}
