package main

import (
	"bytes"
	"errors"
	"fmt"
	"go/token"
	"regexp"

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

// The vocabulary of the catalogue, and the Go spelling of each word.
var (
	remedies = map[string]string{
		"change_request": "RemedyChangeRequest",
		"change_account": "RemedyChangeAccount",
		"wait":           "RemedyWait",
		"login":          "RemedyLogin",
		"restart":        "RemedyRestart",
		"new_key":        "RemedyNewKey",
		"none":           "RemedyNone",
	}
	movements = map[string]string{
		"not_moved":   "NotMoved",
		"moved":       "Moved",
		"maybe_moved": "MaybeMoved",
	}
	detailTypes = map[string]detailType{
		"string":    {goType: "string", reader: "text"},
		"[]string":  {goType: "[]string", reader: "texts"},
		"decimal":   {goType: "decimal.Decimal", reader: "amount"},
		"[]Field":   {goType: "[]Field", reader: "fields"},
		"[]Blocker": {goType: "[]Blocker", reader: "blockers"},
	}
)

// detailType says how a detail appears in Go: its type, and the method of `details` that reads it.
type detailType struct{ goType, reader string }

var slugPattern = regexp.MustCompile(`^[a-z]+(_[a-z0-9]+)*$`)

// check reports everything that is wrong with the catalogue at once.
func check(c *catalogue) error {
	var problems []error
	report := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }

	if len(c.Slugs) == 0 {
		report("no slugs")
	}
	slugs, names := map[string]bool{}, map[string]string{}
	for _, s := range c.Slugs {
		checkSlug(s, report)
		if slugs[s.Slug] {
			report("slug %q: listed twice", s.Slug)
		}
		slugs[s.Slug] = true
		if owner, taken := names[s.Type]; taken {
			report("slug %q: type %s is taken by %q", s.Slug, s.Type, owner)
		}
		names[s.Type] = s.Slug
	}
	for _, u := range c.Unreached {
		switch {
		case slugs[u.Slug]:
			report("slug %q: both reachable and unreached", u.Slug)
		case (u.FoldedInto != "") == u.NeverRaised:
			report("slug %q: needs either foldedInto or neverRaised", u.Slug)
		case u.FoldedInto != "" && !slugs[u.FoldedInto]:
			report("slug %q: folded into the unknown slug %q", u.Slug, u.FoldedInto)
		}
	}
	for _, f := range c.FieldCodes {
		if !slugPattern.MatchString(f.Code) || f.Doc == "" {
			report("field code %q: needs a snake_case code and a doc", f.Code)
		}
	}
	return errors.Join(problems...)
}

func checkSlug(s slug, report func(format string, args ...any)) {
	if !slugPattern.MatchString(s.Slug) {
		report("slug %q: not snake_case", s.Slug)
	}
	if !token.IsExported(s.Type) || !token.IsIdentifier(s.Type) {
		report("slug %q: %q is not an exported Go name", s.Slug, s.Type)
	}
	if s.Status < 400 || s.Status > 599 {
		report("slug %q: status %d is not an error status", s.Slug, s.Status)
	}
	if s.Condition == "" {
		report("slug %q: no condition", s.Slug)
	}
	if remedies[s.Remedy.Value] == "" {
		report("slug %q: unknown remedy %q", s.Slug, s.Remedy.Value)
	}
	if movements[s.Moved.Value] == "" {
		report("slug %q: unknown movement %q", s.Slug, s.Moved.Value)
	}
	seen := map[string]bool{}
	for _, d := range s.Details {
		if !token.IsExported(d.Name) || d.Key == "" || d.Doc == "" || seen[d.Name] {
			report("slug %q: detail %q needs a Go name of its own, a key and a doc", s.Slug, d.Name)
		}
		seen[d.Name] = true
		if _, known := detailTypes[d.Type]; !known {
			report("slug %q: detail %s has the unknown type %q", s.Slug, d.Name, d.Type)
		}
		for _, v := range d.Values {
			if !token.IsExported(v.Name) || v.Value == "" || v.Doc == "" {
				report("slug %q: value %q of detail %s needs a name, a value and a doc", s.Slug, v.Value, d.Name)
			}
		}
	}
}
