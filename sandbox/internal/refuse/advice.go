package refuse

import (
	_ "embed"
	"fmt"
	"maps"
	"regexp"
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

// hinted is a slug with its hints, of which the first whose members are in the details takes the place of Do.
type hinted struct {
	Slug
	Hints []string `json:"hints"`
}

var entries = sync.OnceValue(func() []hinted {
	var all []hinted
	if err := json.Unmarshal(file, &all); err != nil {
		panic(fmt.Errorf("refuse: advice.gen.json: %w", err)) // a mistake in the build, which a test finds
	}
	return all
})

// Slugs returns every slug in alphabetical order. Callers share the list, and must not change it.
var Slugs = sync.OnceValue(func() []Slug {
	var all []Slug
	for _, entry := range entries() {
		all = append(all, entry.Slug)
	}
	return all
})

var bySlug = sync.OnceValue(func() map[string]hinted {
	index := map[string]hinted{}
	for _, entry := range entries() {
		index[entry.Slug.Slug] = entry
	}
	return index
})

// member is a place in a hint.
var member = regexp.MustCompile(`\{(\w+)\}`)

// Advice returns what to do about a refused request, as the error of the SDK does. For an unknown slug it returns "".
// response is the body of the refusal, as far as the log still has it.
func Advice(slug, resourceID, account string, response []byte) string {
	var body struct {
		Error struct {
			Details map[string]any `json:"details"`
		} `json:"error"`
	}
	_ = json.Unmarshal(response, &body) // without the details, the general advice is right
	known := map[string]any{}
	if resourceID != "" {
		known["resource"] = resourceID
	}
	if account != "self" && account != "" {
		known["account"] = account
	}
	maps.Copy(known, body.Error.Details)
	advice := bySlug()[slug]
	for _, hint := range advice.Hints {
		missing := false
		filled := member.ReplaceAllStringFunc(hint, func(place string) string {
			value, found := known[place[1:len(place)-1]]
			missing = missing || !found
			return fmt.Sprint(value)
		})
		if !missing {
			return filled
		}
	}
	return advice.Do
}
