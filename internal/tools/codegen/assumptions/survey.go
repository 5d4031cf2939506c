package main

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

const (
	markKey   = "x-assumed"        // a reason, or one reason for each aspect
	valuesKey = "x-assumed-values" // one reason for each value of an enumeration
)

// survey is what one file states and what it assumes.
type survey struct {
	Name        string
	Title       string
	IsOpenAPI   bool
	Operations  count
	Schemas     count
	Fields      count
	Assumptions []assumption
}

// count tells how many there are and how many of them are assumed as a whole.
type count struct{ Total, Assumed int }

func (c count) stated() int { return c.Total - c.Assumed }

// assumption is one mark: the place in words, the aspect of it that is assumed (empty for the whole) and the reason.
type assumption struct{ Where, Aspect, Reason string }

func surveyFile(name string, source []byte) (survey, error) {
	var document yaml.Node
	if err := yaml.Unmarshal(source, &document); err != nil {
		return survey{}, err
	}
	if len(document.Content) == 0 {
		return survey{}, fmt.Errorf("the file is empty")
	}
	root := document.Content[0]
	s := survey{Name: name, IsOpenAPI: member(root, "openapi") != nil}
	if title := member(member(root, "info"), "title"); title != nil {
		s.Title = title.Value
	}
	if s.IsOpenAPI {
		s.countOpenAPI(root)
	}
	err := s.collect(place{root: root}, root)
	return s, err
}

// collect walks the tree in the order of the file, so that the page reads like the file.
func (s *survey) collect(at place, node *yaml.Node) error {
	switch node.Kind {
	case yaml.MappingNode:
		for key, value := range members(node) {
			var err error
			switch key {
			case markKey:
				err = s.addMark(at, value)
			case valuesKey:
				err = s.addReasons(at, "value ", value)
			default:
				err = s.collect(at.member(key), value)
			}
			if err != nil {
				return err
			}
		}
	case yaml.SequenceNode:
		for i, entry := range node.Content {
			if err := s.collect(at.entry(i, entry), entry); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *survey) addMark(at place, mark *yaml.Node) error {
	if mark.Kind == yaml.MappingNode {
		return s.addReasons(at, "", mark)
	}
	return s.add(at, "", mark)
}

func (s *survey) addReasons(at place, prefix string, reasons *yaml.Node) error {
	if reasons.Kind != yaml.MappingNode || len(reasons.Content) == 0 {
		return fmt.Errorf("line %d: %s: reasons by name are missing", reasons.Line, at)
	}
	for aspect, reason := range members(reasons) {
		if prefix == "" {
			aspect = aspectInWords(aspect)
		} else {
			aspect = prefix + "`" + aspect + "`"
		}
		if err := s.add(at, aspect, reason); err != nil {
			return err
		}
	}
	return nil
}

func (s *survey) add(at place, aspect string, reason *yaml.Node) error {
	text := strings.TrimSpace(reason.Value)
	if reason.Kind != yaml.ScalarNode || text == "" {
		return fmt.Errorf("line %d: %s: the reason is missing", reason.Line, at)
	}
	s.Assumptions = append(s.Assumptions, assumption{Where: at.String(), Aspect: aspect, Reason: text})
	return nil
}

func (s *survey) countOpenAPI(root *yaml.Node) {
	for _, item := range members(member(root, "paths")) {
		for method, operation := range members(item) {
			if slices.Contains(methods, method) {
				s.Operations.add(operation)
			}
		}
	}
	for _, schema := range members(member(member(root, "components"), "schemas")) {
		s.Schemas.add(schema)
		for _, field := range members(member(schema, "properties")) {
			s.Fields.add(field)
		}
	}
}

func (c *count) add(node *yaml.Node) {
	c.Total++
	if mark := member(node, markKey); mark != nil && mark.Kind == yaml.ScalarNode {
		c.Assumed++
	}
}
