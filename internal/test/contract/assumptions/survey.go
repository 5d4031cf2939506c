package main

import (
	"slices"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/contract/wire"
)

// survey counts what one file states, and holds what it assumes.
type survey struct {
	Name        string
	Title       string
	IsOpenAPI   bool
	Operations  count
	Schemas     count
	Fields      count
	Assumptions []*wire.Assumption
}

// count is a number of things, and how many of them are assumed as a whole.
type count struct{ Total, Assumed int }

func (c count) stated() int { return c.Total - c.Assumed }

func (c *count) add(node wire.Node) {
	c.Total++
	if node.Assumed() {
		c.Assumed++
	}
}

// surveys returns the surveys of all files, in the order in which they are read.
func surveys(described *wire.Description) []survey {
	var all []survey
	for _, root := range described.Files {
		s := survey{Name: root.File(), Title: root.At("info", "title").Text(), IsOpenAPI: root.At("openapi").Exists()}
		for _, a := range described.Assumptions {
			if a.File == s.Name {
				s.Assumptions = append(s.Assumptions, a)
			}
		}
		if s.IsOpenAPI {
			s.count(root)
		}
		all = append(all, s)
	}
	return all
}

func (s *survey) count(root wire.Node) {
	for _, item := range root.At("paths").Members() {
		for method, operation := range item.Members() {
			if slices.Contains(wire.Methods, method) {
				s.Operations.add(operation)
			}
		}
	}
	for _, schema := range root.At("components", "schemas").Members() {
		s.Schemas.add(schema)
		for _, field := range schema.At("properties").Members() {
			s.Fields.add(field)
		}
	}
}
