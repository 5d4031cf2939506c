package main

import (
	"bytes"
	"fmt"

	"go.yaml.in/yaml/v3"
)

// catalogue is openapi/errors.yaml.
type catalogue struct {
	Defaults struct {
		Remedy judgement `yaml:"remedy"`
		Moved  judgement `yaml:"moved"`
	} `yaml:"defaults"`
	Slugs      []slug      `yaml:"slugs"`
	Unreached  []unreached `yaml:"unreached"`
	FieldCodes []fieldCode `yaml:"fieldCodes"`
}

// slug is one refusal of the platform API and what is known about it.
type slug struct {
	Slug      string    `yaml:"slug"`
	Type      string    `yaml:"type"`
	Status    int       `yaml:"status"`
	Condition string    `yaml:"condition"`
	Hint      string    `yaml:"hint"`
	Hints     []string  `yaml:"hints"`
	Details   []detail  `yaml:"details"`
	Remedy    judgement `yaml:"remedy"`
	Moved     judgement `yaml:"moved"`

	Assumed struct {
		Condition string `yaml:"condition"` // further conditions, which are assumed
	} `yaml:"x-assumed"`
}

// detail is one typed member of error.details.
type detail struct {
	Name   string       `yaml:"name"`
	Key    string       `yaml:"key"`
	Type   string       `yaml:"type"`
	Doc    string       `yaml:"doc"`
	Values []namedValue `yaml:"values"`

	Assumed string `yaml:"x-assumed"` // why, where the description does not show the member
}

// namedValue is a value of an open set that gets a Go constant.
type namedValue struct {
	Name  string `yaml:"name"`
	Value string `yaml:"value"`
	Doc   string `yaml:"doc"`
}

// unreached is a slug of the published enum that no caller ever receives.
type unreached struct {
	Slug        string `yaml:"slug"`
	FoldedInto  string `yaml:"foldedInto"`
	NeverRaised bool   `yaml:"neverRaised"`
}

type fieldCode struct {
	Code string `yaml:"code"`
	Doc  string `yaml:"doc"`
}

// judgement is a value that the service description states (a plain scalar) or that we assume (with the reason).
type judgement struct {
	Value   string `yaml:"value"`
	Assumed string `yaml:"x-assumed"`

	byDefault bool
}

// UnmarshalYAML reads both spellings. It refuses an assumption without a reason.
func (j *judgement) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind == yaml.ScalarNode {
		j.Value = node.Value
		return nil
	}
	type plain judgement
	if err := node.Decode((*plain)(j)); err != nil {
		return err
	}
	if j.Value == "" || j.Assumed == "" {
		return fmt.Errorf("line %d: an assumed value needs both value and x-assumed", node.Line)
	}
	return nil
}

// parse reads the catalogue, fills in the defaults and checks it. It refuses unknown keys: a misspelled key would leave
// a default in place.
func parse(source []byte) (*catalogue, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(source))
	decoder.KnownFields(true)
	var c catalogue
	if err := decoder.Decode(&c); err != nil {
		return nil, err
	}
	c.Defaults.Remedy.byDefault, c.Defaults.Moved.byDefault = true, true
	for i := range c.Slugs {
		s := &c.Slugs[i]
		if s.Type == "" {
			s.Type = goName(s.Slug)
		}
		if s.Remedy.Value == "" {
			s.Remedy = c.Defaults.Remedy
		}
		if s.Moved.Value == "" {
			s.Moved = c.Defaults.Moved
		}
	}
	if err := check(&c); err != nil {
		return nil, err
	}
	return &c, nil
}
