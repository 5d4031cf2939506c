package gate

import (
	"net/url"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/moneymovement/moneymovement-go/openapi"
)

// The descriptions of the surfaces, each read once. Nobody changes them.
var (
	platformDocument  = readOnce("dapi.yaml") // says itself which names it refuses
	appDocument       = readOnce("appapi.yaml", refuseUnknownNames)
	referenceDocument = readOnce("refapi.yaml", refuseUnknownNames)
	publicDocument    = readOnce("public.yaml")
)

// readOnce reads a description and what it refers to, out of what is built in and nothing else, and adjusts it.
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

// extension reads a string extension; it is empty if there is no such extension.
func extension(extensions map[string]any, name string) string {
	text, _ := extensions[name].(string)
	return text
}
