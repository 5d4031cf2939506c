package gate

import (
	_ "embed"
	"fmt"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/go-json-experiment/json"
)

// The generated files: a line for each operation of a surface, with its method, its path and its document. Reading
// openapi/*.yaml takes longer than most tests. These files have what the host needs, with the components that each
// operation refers to.
var (
	//go:embed dapi.gen.jsonl
	platformLines string
	//go:embed appapi.gen.jsonl
	appLines string
	//go:embed refapi.gen.jsonl
	referenceLines string
	//go:embed public.gen.jsonl
	publicLines string
)

// operationDescription reads the description of one operation: a document with nothing else. All callers share it, and
// must not change it.
type operationDescription func() (*openapi3.T, error)

// operationDescriptions are the operations of a surface by method and path, such as "GET /payouts/{payoutId}". An
// operation is read at its first use, once for all hosts of a process.
type operationDescriptions map[string]operationDescription

// The surfaces of the service.
var (
	platformOperations  = sync.OnceValue(func() operationDescriptions { return operationsOf(platformLines) })
	appOperations       = sync.OnceValue(func() operationDescriptions { return operationsOf(appLines) })
	referenceOperations = sync.OnceValue(func() operationDescriptions { return operationsOf(referenceLines) })
	publicOperations    = sync.OnceValue(func() operationDescriptions { return operationsOf(publicLines) })
)

func operationsOf(file string) operationDescriptions {
	found := operationDescriptions{}
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
var catalogueFile []byte

// NamedOperation is an operation as people read about it.
type NamedOperation struct {
	Surface   string `json:"surface"` // the file of its description, such as dapi
	Method    string `json:"method"`
	Path      string `json:"path"` // with the base path
	Operation string `json:"operation"`
	Summary   string `json:"summary"`
}

// Catalogue has every operation of the service, and the names of the members of bodies that hold secrets.
type Catalogue struct {
	Operations []NamedOperation `json:"operations"`
	Secrets    []string         `json:"secrets"`
}

// AllOperations returns the catalogue. Callers share it, and must not change it.
var AllOperations = sync.OnceValue(func() Catalogue {
	var read Catalogue
	if err := json.Unmarshal(catalogueFile, &read); err != nil {
		panic(fmt.Errorf("gate: catalogue.gen.json: %w", err)) // a mistake in the build, which a test finds
	}
	return read
})
