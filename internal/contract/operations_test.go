package contract_test

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/openapi"
)

// surfaces are the files of the description that hold operations.
var surfaces = []string{"dapi.yaml", "appapi.yaml", "refapi.yaml", "public.yaml"}

// operation is one of the description.
type operation struct {
	name   string // such as "appapi.yaml GetInvoice"; operationIds repeat from one surface to another
	method string
	steps  []string // of the path, with that of the surface
}

// operations reads all of them, so that a path with fewer placeholders comes before one with more: a literal step wins.
func operations(t *testing.T) []operation {
	t.Helper()
	loader := openapi3.NewLoader()
	loader.IsExternalRefsAllowed = true
	loader.ReadFromURIFunc = func(_ *openapi3.Loader, location *url.URL) ([]byte, error) {
		return openapi.Files.ReadFile(location.Path)
	}
	var all []operation
	for _, file := range surfaces {
		doc, err := loader.LoadFromURI(&url.URL{Path: file})
		require.NoError(t, err)
		base := strings.TrimPrefix(doc.Servers[0].URL, "{base_url}")
		for path, item := range doc.Paths.Map() {
			for method, described := range item.Operations() {
				all = append(all, operation{file + " " + described.OperationID, method, strings.Split(base+path, "/")})
			}
		}
	}
	slices.SortFunc(all, func(a, b operation) int {
		return cmp.Or(cmp.Compare(a.placeholders(), b.placeholders()), cmp.Compare(a.name, b.name))
	})
	return all
}

func placeholder(step string) bool { return strings.HasPrefix(step, "{") }

func (o operation) placeholders() (count int) {
	for _, step := range o.steps {
		if placeholder(step) {
			count++
		}
	}
	return count
}

func (o operation) matches(method, path string) bool {
	steps := strings.Split(path, "/")
	if method != o.method || len(steps) != len(o.steps) {
		return false
	}
	for i, step := range o.steps {
		if step != steps[i] && !placeholder(step) {
			return false
		}
	}
	return true
}

// recorder notes which operations were answered with success on the way to a host.
type recorder struct {
	next http.RoundTripper
	all  []operation

	mu       sync.Mutex
	answered map[string]int
	unknown  []string
}

// RoundTrip implements http.RoundTripper.
func (r *recorder) RoundTrip(request *http.Request) (*http.Response, error) {
	answer, err := r.next.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	described := slices.IndexFunc(r.all, func(o operation) bool { return o.matches(request.Method, request.URL.Path) })
	switch {
	case described < 0:
		r.unknown = append(r.unknown, fmt.Sprintf("%s %s", request.Method, request.URL.Path))
	case answer.StatusCode < 300:
		r.answered[r.all[described].name]++
	}
	return answer, nil
}
