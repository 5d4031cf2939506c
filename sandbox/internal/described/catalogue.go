package described

import (
	_ "embed"
	"fmt"
	"sync"

	"github.com/go-json-experiment/json"
)

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
