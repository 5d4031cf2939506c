package main

import (
	"bytes"
	"cmp"
	_ "embed" // for the examples
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/moneymovement/moneymovement-go/recorded"
)

// exampleLines has a line for each example that package recorded does not have: the body of a request, a response to a
// variant of a request, such as a payout to a wallet, and a refusal. Their times follow start.
//
//go:embed examples.jsonl
var exampleLines []byte

// start is the time of all examples.
var start = time.Date(2026, time.January, 5, 12, 0, 0, 0, time.UTC)

// example is one line.
type example struct {
	Operation string    `yaml:"operation"` // such as dapi.BookPayout
	Variant   string    `yaml:"variant"`   // empty if there is one example of the operation
	Request   yaml.Node `yaml:"request"`   // zero without a body
	Response  yaml.Node `yaml:"response"`

	Surface string `yaml:"surface"` // of a refusal
	Slug    string `yaml:"slug"`
}

type examples []example

func readExamples() (all examples, err error) {
	for line := range bytes.Lines(exampleLines) {
		var one example
		if err := yaml.Unmarshal(line, &one); err != nil { // each JSON text is YAML
			return nil, fmt.Errorf("examples.jsonl: %s: %w", line, err)
		}
		block(&one.Request)
		block(&one.Response)
		all = append(all, one)
	}
	return all, nil
}

// of returns the examples of an operation.
func (all examples) of(operation string) (found []example, err error) {
	for _, one := range all {
		if one.Operation == operation {
			found = append(found, one)
		}
	}
	if len(found) == 0 {
		found = []example{{}}
	}
	if !found[0].Response.IsZero() {
		return found, nil
	}
	response, err := recorded.Response(operation, start)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.Header.Get("Content-Type") != "application/json" { // it returns nothing, or a PDF
		return found, nil
	}
	var document yaml.Node
	if err := yaml.NewDecoder(response.Body).Decode(&document); err != nil {
		return nil, err
	}
	found[0].Response = *document.Content[0]
	block(&found[0].Response)
	return found, nil
}

// refusal returns the example of a refusal, or nil.
func (all examples) refusal(surface, slug string) *yaml.Node {
	i := slices.IndexFunc(all, func(e example) bool { return e.Surface == surface && e.Slug == slug })
	if i < 0 {
		return nil
	}
	return &all[i].Response
}

// addExamples gives each JSON body an example, or one for each variant.
func (b *bundle) addExamples(all examples) error {
	var failed error
	b.operations(func(method, path string, operation *yaml.Node) {
		found, err := all.of(b.surface + "." + at(operation, "operationId").Value)
		if err != nil {
			failed = err
			return
		}
		if body := at(operation, "requestBody", "content", "application/json"); body != nil {
			if !addTo(body, found, func(e *example) *yaml.Node { return &e.Request }) {
				failed = fmt.Errorf("examples.jsonl has no body of %s %s", method, path)
			}
		}
		responses := at(operation, "responses")
		for i := 0; i < len(responses.Content); i += 2 {
			if !strings.HasPrefix(responses.Content[i].Value, "2") {
				continue
			}
			response := responses.Content[i+1]
			if ref := at(response, "$ref"); ref != nil {
				_, name, _ := strings.Cut(ref.Value, "#/components/responses/")
				response = clone(at(b.root, "components", "responses", name))
				responses.Content[i+1] = response
			}
			if body := at(response, "content", "application/json"); body != nil {
				if !addTo(body, found, func(e *example) *yaml.Node { return &e.Response }) {
					failed = fmt.Errorf("there is no response to %s %s", method, path)
				}
			}
		}
	})
	return failed
}

func addTo(media *yaml.Node, found []example, body func(*example) *yaml.Node) bool {
	variants := mapping()
	for i := range found {
		e, value := &found[i], body(&found[i])
		switch {
		case value.IsZero():
			return false
		case e.Variant == "":
			set(media, "example", clone(value))
			return true
		}
		set(variants, e.Variant, single("value", clone(value)))
	}
	set(media, "examples", variants)
	return true
}

// slug is what the error catalogue says about a slug.
type slug struct {
	Slug      string `yaml:"slug"`
	Status    string `yaml:"status"`
	Condition string `yaml:"condition"`
}

func readSlugs(file string) (map[string]slug, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var catalogue struct {
		Slugs []slug `yaml:"slugs"`
	}
	if err := yaml.Unmarshal(content, &catalogue); err != nil {
		return nil, err
	}
	slugs := map[string]slug{}
	for _, entry := range catalogue.Slugs {
		slugs[entry.Slug] = entry
	}
	return slugs, nil
}

// addRefusals gives each operation a response for each status of its slugs. Slugs that every operation can return alone
// with their status are one response in components.
func (b *bundle) addRefusals(slugs map[string]slug, all examples) {
	everywhere := byStatus(texts(at(b.root, "x-slugs")), slugs)
	components := at(b.root, "components", "responses")
	shape := clone(at(components, "Refusal"))
	b.operations(func(_, _ string, operation *yaml.Node) {
		own := texts(at(operation, "x-slugs"))
		responses := at(operation, "responses")
		anyOther := at(responses, "default")
		remove(responses, func(key string) bool { return key == "default" })
		statuses := byStatus(append(texts(at(b.root, "x-slugs")), own...), slugs)
		for _, status := range slices.Sorted(maps.Keys(statuses)) {
			if at(responses, status) != nil {
				continue // such as the failed validation of the reference endpoints, which has a form of its own
			}
			if !slices.Equal(statuses[status], everywhere[status]) {
				setStatus(responses, status, b.refusal(shape, statuses[status], slugs, all))
				continue
			}
			name := "Refusal" + status
			if at(components, name) == nil {
				set(components, name, b.refusal(shape, everywhere[status], slugs, all))
			}
			setStatus(responses, status, single("$ref", text("#/components/responses/"+name)))
		}
		set(responses, "default", anyOther)
	})
}

// setStatus adds a response. In a mapping, YAML reads a plain 404 as a number.
func setStatus(responses *yaml.Node, status string, response *yaml.Node) {
	set(responses, status, response)
	responses.Content[len(responses.Content)-2].Style = yaml.SingleQuotedStyle
}

// refusal describes the slugs of one status.
func (b *bundle) refusal(shape *yaml.Node, names []string, slugs map[string]slug, all examples) *yaml.Node {
	response := clone(shape)
	remove(response, func(key string) bool { return strings.HasPrefix(key, "x-") })
	var said []string
	examples := mapping()
	for _, name := range names {
		said = append(said, "- `"+name+"`: "+strings.TrimSpace(slugs[name].Condition))
		if refused := all.refusal(b.surface, name); refused != nil {
			set(examples, name, single("value", clone(refused)))
		}
	}
	description := text(strings.Join(said, "\n"))
	description.Style = yaml.LiteralStyle
	set(response, "description", description)
	if len(examples.Content) > 0 {
		set(at(response, "content", "application/json"), "examples", examples)
	}
	return response
}

// byStatus groups slugs by their status, each group in the order of the names.
func byStatus(names []string, slugs map[string]slug) map[string][]string {
	statuses := map[string][]string{}
	for _, name := range names {
		status := cmp.Or(slugs[name].Status, "400")
		if !slices.Contains(statuses[status], name) {
			statuses[status] = append(statuses[status], name)
		}
	}
	for _, group := range statuses {
		slices.Sort(group)
	}
	return statuses
}
