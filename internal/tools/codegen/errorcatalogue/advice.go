package main

import (
	"cmp"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// advice is what the sandbox host's controls say about a slug.
type advice struct {
	Slug    string   `json:"slug"`
	Status  int      `json:"status"`
	Meaning string   `json:"meaning"`
	Do      string   `json:"do"`
	Hints   []string `json:"hints,omitempty"`
	Page    string   `json:"page"`
}

// renderAdvice returns what to do about each slug, as JSON.
func renderAdvice(c *catalogue) ([]byte, error) {
	var all []advice
	for _, s := range c.Slugs {
		all = append(all, advice{
			s.Slug, s.Status, s.Condition, cmp.Or(s.Hint, repeatable(s)), s.Hints, pageURL(s.Slug),
		})
	}
	slices.SortFunc(all, func(a, b advice) int { return cmp.Compare(a.Slug, b.Slug) })
	text, err := json.Marshal(all, jsontext.WithIndent("\t"))
	return append(text, '\n'), err
}
