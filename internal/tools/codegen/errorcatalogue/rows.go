package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"
)

// rows is page.yaml. It has what the Go documentation does not say about the errors without a slug.
type rows struct {
	Intro  string  `yaml:"intro"`
	Groups []group `yaml:"groups"`
}

// group is a section of the page.
type group struct {
	Title string `yaml:"title"`
	Intro string `yaml:"intro"`
	// Values are packages whose error values (Err...) are listed.
	Values []string `yaml:"values"`
	Errors []row    `yaml:"errors"`
}

// row is one error type.
type row struct {
	Type    string `yaml:"type"`    // such as dapi.PriceRefused
	Do      string `yaml:"do"`      // what to do about it
	Sandbox string `yaml:"sandbox"` // how to provoke it
	Embeds  string `yaml:"embeds"`  // the listed type that it embeds, which has its Retryable and MovedByCall
}

func readRows(root string) (*rows, error) {
	source, err := os.ReadFile(filepath.Join(root, rowsFile))
	if err != nil {
		return nil, err
	}
	r, err := parseRows(source)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", rowsFile, err)
	}
	return r, nil
}

func parseRows(source []byte) (*rows, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(source))
	decoder.KnownFields(true)
	var r rows
	if err := decoder.Decode(&r); err != nil {
		return nil, err
	}
	var problems []error
	seen := map[string]bool{}
	for _, g := range r.Groups {
		if g.Title == "" {
			problems = append(problems, errors.New("a group has no title"))
		}
		for _, e := range g.Errors {
			if e.Type == "" || e.Do == "" || e.Sandbox == "" {
				problems = append(problems, fmt.Errorf("type %q: needs type, do and sandbox", e.Type))
			}
			if seen[e.Type] {
				problems = append(problems, fmt.Errorf("type %q: listed twice", e.Type))
			}
			seen[e.Type] = true
		}
	}
	for _, g := range r.Groups {
		for _, e := range g.Errors {
			if e.Embeds != "" && !seen[e.Embeds] {
				problems = append(problems, fmt.Errorf("type %q: embeds %q, which is not listed", e.Type, e.Embeds))
			}
		}
	}
	return &r, errors.Join(problems...)
}

// readProvocations reads how to make the sandbox host send each slug, from the table in sandbox/SLUGS.md.
func readProvocations(root string) (map[string]string, error) {
	source, err := os.ReadFile(filepath.Join(root, provocationsFile))
	if err != nil {
		return nil, err
	}
	found := map[string]string{}
	for line := range strings.Lines(string(source)) {
		cells := strings.SplitN(strings.TrimSpace(line), " | ", 3)
		slug, isRow := strings.CutPrefix(cells[0], "| `")
		if !isRow || len(cells) != 3 {
			continue
		}
		found[strings.TrimSuffix(slug, "`")] = strings.TrimSuffix(cells[2], " |")
	}
	return found, nil
}
