package gate

import (
	"net/url"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/moneymovement/moneymovement-go/openapi"
)

// The descriptions of the surfaces. Each is read once and never changed.
var (
	platformDocument  = readOnce("dapi.yaml") // it says itself which unknown names it refuses
	appDocument       = readOnce("appapi.yaml", refuseUnknownNames)
	referenceDocument = readOnce("refapi.yaml", refuseUnknownNames)
	publicDocument    = readOnce("public.yaml")
)

// readOnce reads a built-in description and the files that it refers to, and adjusts it.
func readOnce(name string, adjust ...func(*openapi3.T)) func() (*openapi3.T, error) {
	return sync.OnceValues(func() (*openapi3.T, error) {
		loader := openapi3.NewLoader()
		loader.ReadFromURIFunc = func(_ *openapi3.Loader, location *url.URL) ([]byte, error) {
			return openapi.Files.ReadFile(location.Path)
		}
		document, err := loader.LoadFromURI(&url.URL{Path: name})
		if err != nil {
			return nil, err
		}
		for _, adjust := range adjust {
			adjust(document)
		}
		return document, nil
	})
}

// extension returns a string extension, or "".
func extension(extensions map[string]any, name string) string {
	text, _ := extensions[name].(string)
	return text
}
