package main

import (
	"errors"
	"fmt"
	"io/fs"

	"go.yaml.in/yaml/v3"
)

const (
	rulesFile = "docs/rules.yaml"
	slugsFile = "openapi/errors.yaml"
	slugs     = "slug." // prefix of the ids that come from the catalogue of slugs
)

// section is a group of rules under one heading.
type section struct {
	Title string
	Rules []rule
}

// rule is one sentence of the description.
type rule struct {
	ID, Text, Source string
	NoHost           string `yaml:"noHost"` // why no test of the host is needed
	NoSDK            string `yaml:"noSDK"`  // why no test of the SDK is needed
}

// readRules reads the written rules, and adds a rule for each slug.
func readRules(module fs.FS) ([]section, error) {
	var written struct{ Sections []section }
	if err := readYAML(module, rulesFile, &written); err != nil {
		return nil, err
	}
	var catalogue struct {
		Slugs []struct {
			Slug, Condition string
			Status          int
		}
	}
	if err := readYAML(module, slugsFile, &catalogue); err != nil {
		return nil, err
	}
	answered := section{Title: "Slugs"}
	for _, entry := range catalogue.Slugs {
		answered.Rules = append(answered.Rules, rule{
			ID: slugs + entry.Slug, Text: fmt.Sprintf("%d: %s", entry.Status, entry.Condition), Source: "Errors, Slugs",
		})
	}
	sections := append(written.Sections, answered)
	return sections, check(sections)
}

func readYAML(module fs.FS, name string, into any) error {
	source, err := fs.ReadFile(module, name)
	if err != nil {
		return err
	}
	if err := yaml.Unmarshal(source, into); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// check refuses rules that have the same id, say nothing, or need no test at all.
func check(sections []section) error {
	var problems []error
	seen := map[string]bool{}
	for _, s := range sections {
		if s.Title == "" || len(s.Rules) == 0 {
			problems = append(problems, fmt.Errorf("the section %q has no title or no rule", s.Title))
		}
		for _, r := range s.Rules {
			switch {
			case !ruleID.MatchString(r.ID):
				problems = append(problems, fmt.Errorf("%q is no id of a rule", r.ID))
			case seen[r.ID]:
				problems = append(problems, fmt.Errorf("%s is there twice", r.ID))
			case r.Text == "" || r.Source == "":
				problems = append(problems, fmt.Errorf("%s lacks its text or its source", r.ID))
			case r.NoHost != "" && r.NoSDK != "":
				problems = append(problems, fmt.Errorf("%s asks for no test at all", r.ID))
			}
			seen[r.ID] = true
		}
	}
	return errors.Join(problems...)
}
