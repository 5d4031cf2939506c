package wire

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

const (
	markKey   = "x-assumed"        // a reason, or one reason for each aspect
	valuesKey = "x-assumed-values" // one reason for each value of an enumeration
)

// Assumption is something that the description assumes, because the service's own description does not state it.
type Assumption struct {
	File   string // such as dapi.yaml
	Where  string // the place in words, such as Payout.status
	Aspect string // the assumed part: pattern, answer, "value ready"; "" for the whole
	Reason string
	Line   int // line of the reason, from 1
}

// Position returns the place of the mark for an editor: openapi/dapi.yaml:123.
func (a *Assumption) Position() string { return fmt.Sprintf("openapi/%s:%d", a.File, a.Line) }

// Value returns the assumed value of an enumeration, or "" if the assumption is about something else.
func (a *Assumption) Value() (value string, is bool) { return strings.CutPrefix(a.Aspect, "value ") }

// What returns the assumed part in the words of openapi/README.md.
func (a *Assumption) What() string {
	if value, is := a.Value(); is {
		return "value `" + value + "`"
	}
	switch a.Aspect {
	case "":
		return "all of it"
	case "fieldTypes":
		return "types of its fields"
	case "fieldNames":
		return "names of its fields"
	case "mediaType":
		return "media type"
	case "minLength", "maxLength", "minItems", "maxItems", "x-slugs", "x-scope", "x-id-prefix":
		return "`" + a.Aspect + "`"
	default:
		return a.Aspect
	}
}

// collect walks through a file from top to bottom and notes every mark.
func (d *Description) collect(at place, node Node) (err error) {
	for key, value := range node.Members() {
		switch {
		case key == markKey && value.yaml.Kind != yaml.MappingNode:
			err = d.add(at, node, "", value)
		case key == markKey:
			err = d.addReasons(at, node, "", value)
		case key == valuesKey:
			err = d.addReasons(at, node, "value ", value)
		default:
			err = d.collect(at.member(key), value)
		}
		if err != nil {
			return err
		}
	}
	for i, entry := range node.Entries() {
		if err := d.collect(at.entry(i, entry), entry); err != nil {
			return err
		}
	}
	return nil
}

func (d *Description) addReasons(at place, node Node, prefix string, reasons Node) error {
	if len(reasons.yaml.Content) == 0 {
		return fmt.Errorf("line %d: %s: reasons by name are missing", reasons.yaml.Line, at)
	}
	for name, reason := range reasons.Members() {
		if err := d.add(at, node, prefix+name, reason); err != nil {
			return err
		}
	}
	return nil
}

func (d *Description) add(at place, node Node, aspect string, reason Node) error {
	text := strings.TrimSpace(reason.Text())
	if text == "" {
		return fmt.Errorf("line %d: %s: the reason is missing", reason.yaml.Line, at)
	}
	a := &Assumption{File: node.file.name, Where: at.String(), Aspect: aspect, Reason: text, Line: reason.yaml.Line}
	d.Assumptions = append(d.Assumptions, a)
	d.marks[node.yaml] = append(d.marks[node.yaml], a)
	return nil
}

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
