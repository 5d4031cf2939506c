// Command cut writes the generated descriptions of package gate from openapi/*.yaml.
//
// Run it with `make generate`.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/go-json-experiment/json"

	"github.com/moneymovement/moneymovement-go/openapi"
)

func main() {
	output := flag.String("o", ".", "folder to write to")
	flag.Parse()
	if err := run(*output); err != nil {
		fmt.Fprintln(os.Stderr, "cut:", err)
		os.Exit(1)
	}
}

func run(output string) error {
	for _, surface := range surfaces {
		lines, err := surface.lines()
		if err != nil {
			return fmt.Errorf("%s: %w", surface.name, err)
		}
		if err := os.WriteFile(filepath.Join(output, surface.name+".gen.jsonl"), lines, 0o644); err != nil {
			return err
		}
	}
	text, err := catalogue()
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(output, catalogueFile), text, 0o644)
}

// lines returns one line for each operation of a surface: its method, its path, and a document with nothing else. The
// same description always gives the same bytes.
func (s surface) lines() ([]byte, error) {
	document, err := s.read()
	if err != nil {
		return nil, err
	}
	components, err := componentsOf(document)
	if err != nil {
		return nil, err
	}
	var lines bytes.Buffer
	for _, path := range document.Paths.InMatchingOrder() {
		item := document.Paths.Value(path)
		for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch,
			http.MethodDelete} {
			if operation := item.GetOperation(method); operation != nil {
				text, err := components.alone(path, method, operation)
				if err != nil {
					return nil, err
				}
				fmt.Fprintf(&lines, "%s %s %s\n", method, path, text)
			}
		}
	}
	return lines.Bytes(), nil
}

// alone returns the document with one operation and the components that it uses.
func (c components) alone(path, method string, operation *openapi3.Operation) ([]byte, error) {
	part, err := short(operation)
	if err != nil {
		return nil, err
	}
	used := components{}
	c.use(part, used)
	return json.Marshal(object{
		"openapi":    "3.0.3",
		"info":       object{"title": operation.OperationID, "version": "1"},
		"paths":      object{path: object{strings.ToLower(method): part}},
		"components": used,
	}, json.Deterministic(true))
}

// surface is a part of the service with a description of its own.
type surface struct {
	name string // of its file
	// open says that its file leaves it open which names the bodies of requests have.
	open bool
}

var surfaces = []surface{{name: "dapi"}, {name: "appapi", open: true}, {name: "refapi", open: true}, {name: "public"}}

// read reads the description of a surface with the files that it refers to, and adjusts it.
func (s surface) read() (*openapi3.T, error) {
	loader := openapi3.NewLoader()
	loader.ReadFromURIFunc = func(_ *openapi3.Loader, location *url.URL) ([]byte, error) {
		return openapi.Files.ReadFile(location.Path)
	}
	document, err := loader.LoadFromURI(&url.URL{Path: s.name + ".yaml"})
	if err != nil {
		return nil, err
	}
	if s.open {
		refuseUnknownNames(document)
	}
	return document, nil
}

// refuseUnknownNames changes a description that leaves it open: it then refuses unknown names in the bodies of
// requests. A misspelled name would do nothing, or something else, and look like a success. Responses with the same
// schemas are checked in the same way.
func refuseUnknownNames(document *openapi3.T) {
	for _, path := range document.Paths.Map() {
		for _, operation := range path.Operations() {
			if operation.RequestBody != nil {
				seal(operation.RequestBody.Value.Content.Get("application/json").Schema.Value)
			}
		}
	}
}

// seal closes a schema, and every schema in it, that has properties and does not say whether there are more.
func seal(schema *openapi3.Schema) {
	if schema.Items != nil {
		seal(schema.Items.Value)
	}
	for _, part := range schema.AllOf {
		seal(part.Value)
	}
	for _, variant := range schema.OneOf {
		// For some variants the description shows only that they exist. Their names are guesses.
		if _, guessed := variant.Value.Extensions["x-assumed"].(string); !guessed {
			seal(variant.Value)
		}
	}
	open := schema.AdditionalProperties.Has == nil && schema.AdditionalProperties.Schema == nil
	if !open || len(schema.Properties) == 0 {
		return
	}
	no := false
	schema.AdditionalProperties.Has = &no
	for _, property := range schema.Properties {
		seal(property.Value)
	}
}
