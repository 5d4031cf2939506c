package main

import (
	"bytes"
	_ "embed" // for the examples
	"fmt"
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
