// Package described has the description of each operation, cut out of openapi/*.yaml.
//
// Reading the YAML files takes longer than most tests. The generated files have what the host needs of them, as JSON:
// one line for each operation, with the components that it refers to.
package described

import (
	_ "embed"
	"fmt"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/go-json-experiment/json"
)

// The generated files: a line for each operation of a surface, with its method, its path and its document.
var (
	//go:embed dapi.gen.jsonl
	platform string
	//go:embed appapi.gen.jsonl
	app string
	//go:embed refapi.gen.jsonl
	reference string
	//go:embed public.gen.jsonl
	public string
)

// Operation reads the description of one operation: a document with nothing else. All callers share it, and must not
// change it.
type Operation func() (*openapi3.T, error)

// Operations are the operations of a surface by method and path, such as "GET /payouts/{payoutId}". An operation is
// read at its first use, once for all hosts of a process.
type Operations map[string]Operation

// The surfaces of the service.
var (
	Platform  = sync.OnceValue(func() Operations { return operationsOf(platform) })
	App       = sync.OnceValue(func() Operations { return operationsOf(app) })
	Reference = sync.OnceValue(func() Operations { return operationsOf(reference) })
	Public    = sync.OnceValue(func() Operations { return operationsOf(public) })
)

func operationsOf(file string) Operations {
	found := Operations{}
	for line := range strings.Lines(file) {
		method, rest, _ := strings.Cut(line, " ")
		path, document, _ := strings.Cut(rest, " ")
		found[method+" "+path] = sync.OnceValues(func() (*openapi3.T, error) {
			return openapi3.NewLoader().LoadFromData([]byte(document))
		})
	}
	return found
}

//go:generate go run ./cut

//go:embed catalogue.gen.json
var catalogue []byte

// Named is an operation as people read about it.
type Named struct {
	Surface   string `json:"surface"` // the file of its description, such as dapi
	Method    string `json:"method"`
	Path      string `json:"path"` // with the base path
	Operation string `json:"operation"`
	Summary   string `json:"summary"`
}

// Catalogue has every operation of the service, and the names of the members of bodies that hold secrets.
type Catalogue struct {
	Operations []Named  `json:"operations"`
	Secrets    []string `json:"secrets"`
}

// All returns the catalogue. Callers share it, and must not change it.
var All = sync.OnceValue(func() Catalogue {
	var read Catalogue
	if err := json.Unmarshal(catalogue, &read); err != nil {
		panic(fmt.Errorf("described: catalogue.gen.json: %w", err)) // a mistake in the build, which a test finds
	}
	return read
})
