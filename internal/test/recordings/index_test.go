package recordings_test

import (
	"maps"
	"net/http"
	"net/url"
	"path"
	"slices"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/internal/recorded"
	"github.com/moneymovement/moneymovement-go/openapi"
)

// indexOf picks a response for each operation: the longest one, because it shows the most fields.
func indexOf(hosts map[string]*recordedHost) recorded.Index {
	index, length := recorded.Index{}, map[string]int{}
	for _, example := range slices.Sorted(maps.Keys(hosts)) {
		host := hosts[example]
		for i, operation := range host.operations {
			size := len(host.recording[i].Answer.Body)
			if _, known := index[operation]; operation == "" || known && size <= length[operation] {
				continue
			}
			index[operation], length[operation] = recorded.Place{Example: example, Exchange: i}, size
		}
	}
	return index
}

// Users' fakes need a response for each operation that the SDK can call.
func TestTheExamplesCallEachOperation(t *testing.T) {
	index, err := recorded.Operations()
	require.NoError(t, err)
	for _, surface := range []string{"dapi", "appapi", "refapi", "public"} {
		for _, operation := range operationsOf(t, surface) {
			assert.Contains(t, index, operation, "write an example that calls it, then make recordings")
		}
	}
}

func operationsOf(t *testing.T, surface string) (names []string) {
	t.Helper()
	text, err := openapi.Files.ReadFile(surface + ".yaml")
	require.NoError(t, err)
	loader := openapi3.NewLoader()
	loader.IsExternalRefsAllowed = true
	loader.ReadFromURIFunc = func(_ *openapi3.Loader, location *url.URL) ([]byte, error) {
		return openapi.Files.ReadFile(path.Base(location.Path))
	}
	description, err := loader.LoadFromData(text)
	require.NoError(t, err)
	for _, item := range description.Paths.Map() {
		for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch,
			http.MethodDelete} {
			if operation := item.GetOperation(method); operation != nil {
				names = append(names, surface+"."+operation.OperationID)
			}
		}
	}
	require.NotEmpty(t, names)
	return names
}
