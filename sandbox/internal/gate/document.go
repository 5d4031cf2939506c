package gate

import (
	"sync"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/moneymovement/moneymovement-go/openapi"
)

// document is the description of the platform API, read once. Nobody changes it.
var document = sync.OnceValues(func() (*openapi3.T, error) {
	text, err := openapi.Files.ReadFile("dapi.yaml")
	if err != nil {
		return nil, err
	}
	return openapi3.NewLoader().LoadFromData(text)
})

// extension reads a string extension; it is empty when there is none.
func extension(extensions map[string]any, name string) string {
	text, _ := extensions[name].(string)
	return text
}
