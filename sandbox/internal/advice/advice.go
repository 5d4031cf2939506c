// Package advice says what to do about each slug, in the words of docs/errors.md.
package advice

import (
	_ "embed"
	"fmt"
	"sync"

	"github.com/go-json-experiment/json"
)

//go:embed advice.gen.json
var file []byte

// Slug is what a caller needs to know about a slug.
type Slug struct {
	Slug    string `json:"slug"`
	Status  int    `json:"status"`
	Meaning string `json:"meaning"`
	Do      string `json:"do"`
	Page    string `json:"page"` // the address of its section of docs/errors.md
}

// All returns every slug in alphabetical order. Callers share the list, and must not change it.
var All = sync.OnceValue(func() []Slug {
	var all []Slug
	if err := json.Unmarshal(file, &all); err != nil {
		panic(fmt.Errorf("advice: advice.gen.json: %w", err)) // a mistake in the build, which a test finds
	}
	return all
})

var bySlug = sync.OnceValue(func() map[string]Slug {
	index := map[string]Slug{}
	for _, s := range All() {
		index[s.Slug] = s
	}
	return index
})

// Do returns what to do about a slug, or "" for a slug that the service does not have.
func Do(slug string) string { return bySlug()[slug].Do }
