package described

import (
	_ "embed"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
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
