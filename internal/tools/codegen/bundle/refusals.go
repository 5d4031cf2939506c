package main

import (
	"cmp"
	"maps"
	"os"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

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
