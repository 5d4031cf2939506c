package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/moneymovement/moneymovement-go/internal/tools/codegen/description"
)

// path writes the checks of the values of an operation's path, in their order.
func (w *writer) path(doc *openapi3.T, path string, op *openapi3.Operation) {
	var rules []string
	for i, segment := range strings.Split(path, "/") {
		name, isParameter := strings.CutPrefix(segment, "{")
		if !isParameter {
			continue
		}
		parameter := op.Parameters.GetByInAndName(openapi3.ParameterInPath, strings.TrimSuffix(name, "}"))
		var taken []string
		if words := takenWords(doc, path, i); len(words) > 0 {
			taken = []string{"Taken: []string{" + quoted(words) + "}"}
		}
		rules = append(rules, flatten(parameter.Schema, description.MarksOf(parameter.Extensions)...).
			rule(false, taken...))
	}
	if len(rules) > 0 {
		w.line("\nvar path%s = [...]transport.Rule{\n%s,\n}", op.OperationID,
			strings.ReplaceAll(strings.Join(rules, ",\n"), "transport.Rule{", "{"))
	}
}

// takenWords returns the words that other paths have in place of a parameter. As a value, such a word would address
// another operation.
func takenWords(doc *openapi3.T, path string, place int) []string {
	taken := map[string]bool{}
	before := strings.Split(path, "/")[:place]
	for other := range doc.Paths.Map() {
		segments := strings.Split(other, "/")
		if len(segments) > place && slices.Equal(segments[:place], before) && !strings.HasPrefix(segments[place], "{") {
			taken[segments[place]] = true
		}
	}
	return slices.Sorted(maps.Keys(taken))
}

// quoted writes words as the elements of a Go list.
func quoted(words []string) string {
	literals := make([]string, len(words))
	for i, word := range words {
		literals[i] = fmt.Sprintf("%q", word)
	}
	return strings.Join(literals, ", ")
}
