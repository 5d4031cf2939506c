// Command cut writes the files of package described from openapi/*.yaml.
//
// Run it with `make generate`.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/go-json-experiment/json"
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
