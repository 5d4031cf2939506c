package wire

import (
	"fmt"
	"strings"
)

const (
	markKey   = "x-assumed"        // a reason, or one reason for each aspect
	valuesKey = "x-assumed-values" // one reason for each value of an enumeration
)

// Assumption is one thing that the description assumes, since the service's own says nothing about it.
type Assumption struct {
	File   string // such as dapi.yaml
	Where  string // the place in words, such as Payout.status
	Aspect string // key of the part that is assumed: pattern, answer, "value ready"; empty for the whole
	Reason string
	Line   int // of the reason, from 1
}

// Position is where an editor finds the mark: openapi/dapi.yaml:123.
func (a *Assumption) Position() string { return fmt.Sprintf("openapi/%s:%d", a.File, a.Line) }

// Value is the value of an enumeration that is assumed, if that is what the assumption is about.
func (a *Assumption) Value() (value string, is bool) { return strings.CutPrefix(a.Aspect, "value ") }

// What is the assumed part in the words of openapi/README.md.
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

// collect walks a file in its order and notes every mark.
func (d *Description) collect(at place, node Node) {
	for key, value := range node.Members() {
		switch key {
		case markKey:
			if value.Text() != "" {
				d.add(at, node, "", value)
			}
			for aspect, reason := range value.Members() {
				d.add(at, node, aspect, reason)
			}
		case valuesKey:
			for enumerated, reason := range value.Members() {
				d.add(at, node, "value "+enumerated, reason)
			}
		default:
			d.collect(at.member(key), value)
		}
	}
	for i, entry := range node.Entries() {
		d.collect(at.entry(i, entry), entry)
	}
}

func (d *Description) add(at place, node Node, aspect string, reason Node) {
	a := &Assumption{File: node.file.name, Where: at.String(), Aspect: aspect, Reason: strings.TrimSpace(reason.Text()), Line: reason.yaml.Line}
	d.Assumptions = append(d.Assumptions, a)
	d.marks[node.yaml] = append(d.marks[node.yaml], a)
}
