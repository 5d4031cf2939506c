package wire

import (
	_ "embed"
	"fmt"
	"maps"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
)

// Refusal is one refusal of the host, with the parts of the platform envelope. A Refusal is immutable.
type Refusal struct {
	// Status is the HTTP status.
	Status int
	// Code is the slug.
	Code string
	// Message is one sentence that is safe to log.
	Message string
	// Details has camelCase keys. It is nil without details.
	Details map[string]any
	// RetryAfter is the wait in the Retry-After header, in whole seconds, or zero.
	RetryAfter time.Duration
}

// Error returns status, slug and message, and what is wrong with each field.
func (r *Refusal) Error() string {
	var text strings.Builder
	text.WriteString(strconv.Itoa(r.Status) + " " + r.Code + ": " + r.Message)
	fields, _ := r.Details["fields"].([]Field)
	for _, field := range fields {
		text.WriteString(" " + field.Field + ": " + field.Message)
	}
	return text.String()
}

// Is reports whether target is a refusal with the same slug, so that errors.Is compares slugs.
func (r *Refusal) Is(target error) bool {
	other, ok := target.(*Refusal)
	return ok && other != nil && other.Code == r.Code
}

// Field is one entry of validation_failed's details.fields.
type Field struct {
	// Field is the name on the wire. Nested names are joined by dots.
	Field string `json:"field"`
	// Code is the validator's code, such as missing, amount_precision or extra_forbidden.
	Code string `json:"code"`
	// Message is one sentence.
	Message string `json:"message"`
}

// Blocker is one entry of details.blockers and of a contact's capabilities. Its codes are not slugs.
type Blocker struct {
	// Code is a word from the codes of blockers.
	Code string `json:"code"`
	// Message is one sentence.
	Message string `json:"message"`
	// Field is the field that the blocker is about, if there is one.
	Field string `json:"field,omitempty"`
}

//go:embed advice.gen.json
var adviceFile []byte

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
	if err := json.Unmarshal(adviceFile, &all); err != nil {
		panic(fmt.Errorf("wire: advice.gen.json: %w", err)) // a mistake in the build, which a test finds
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

// placeholder is a place in a hint.
var placeholder = regexp.MustCompile(`\{(\w+)\}`)

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
		filled := placeholder.ReplaceAllStringFunc(hint, func(place string) string {
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
