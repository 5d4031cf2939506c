package sandbox

import (
	_ "embed"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/go-json-experiment/json"

	"github.com/moneymovement/moneymovement-go/internal/shell"
)

// controlBase is the path of the host's controls, and consolePath that of the page for people.
const (
	controlBase = "/_host"
	consolePath = "/_console"
)

// isControl reports whether a path is not the service's.
func isControl(path string) bool {
	return path == consolePath || path == controlBase || strings.HasPrefix(path, controlBase+"/")
}

// controlYAML describes the controls. The index is made of it.
//
//go:embed control.yaml
var controlYAML []byte

// controlDescription reads control.yaml at its first use.
var controlDescription = sync.OnceValues(func() (*openapi3.T, error) {
	return openapi3.NewLoader().LoadFromData(controlYAML)
})

// index is what GET /_host returns.
type index struct {
	Routes  []indexedRoute `json:"routes"`
	Console string         `json:"console"`
	OpenAPI string         `json:"openapi"`
}

type indexedRoute struct {
	Method      string         `json:"method"`
	Path        string         `json:"path"`
	Summary     string         `json:"summary"`
	Description string         `json:"description,omitzero"`
	Body        any            `json:"body,omitzero"`
	Bodies      map[string]any `json:"bodies,omitzero"`
	Response    any            `json:"response,omitzero"`
	Curl        string         `json:"curl"`
}

func readIndex(r *http.Request) (int, any, error) {
	document, err := controlDescription()
	if err != nil {
		return 0, nil, fmt.Errorf("control.yaml: %w", err)
	}
	list := index{Console: consolePath, OpenAPI: controlBase + "/openapi.yaml"}
	paths := document.Paths.Map()
	for _, path := range slices.SortedFunc(maps.Keys(paths), inOrder(document)) {
		for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete} {
			if operation := paths[path].GetOperation(method); operation != nil {
				list.Routes = append(list.Routes, indexed(method, path, operation, "http://"+r.Host))
			}
		}
	}
	return http.StatusOK, list, nil
}

// inOrder compares paths by the order of the tags of their operations, and by name.
func inOrder(document *openapi3.T) func(a, b string) int {
	place := func(path string) int {
		for _, operation := range document.Paths.Value(path).Operations() {
			for i, tag := range document.Tags {
				if slices.Contains(operation.Tags, tag.Name) {
					return i
				}
			}
		}
		return len(document.Tags)
	}
	return func(a, b string) int {
		if by := place(a) - place(b); by != 0 {
			return by
		}
		return strings.Compare(a, b)
	}
}

// indexed is a control for a reader, with a request to copy.
func indexed(method, path string, operation *openapi3.Operation, base string) indexedRoute {
	route := indexedRoute{
		Method: method, Path: path, Summary: operation.Summary, Description: strings.TrimSpace(operation.Description),
	}
	if operation.RequestBody != nil {
		route.Body, route.Bodies = examplesOf(operation.RequestBody.Value.Content.Get("application/json"))
	}
	for _, status := range []string{"200", "201"} {
		if response := operation.Responses.Value(status); response != nil {
			if media := response.Value.Content["application/json"]; media != nil {
				route.Response, _ = examplesOf(media)
			}
		}
	}
	route.Curl = curlOf(method, base+withExamples(path, operation), route.Body)
	return route
}

// usual is the name of the example that stands for all.
const usual = "usual"

// examplesOf returns the example of a body, and the others by name.
func examplesOf(media *openapi3.MediaType) (example any, others map[string]any) {
	if media.Example != nil {
		return media.Example, nil
	}
	for name, other := range media.Examples {
		if name == usual {
			example = other.Value.Value
			continue
		}
		if others == nil {
			others = map[string]any{}
		}
		others[name] = other.Value.Value
	}
	return example, others
}

// withExamples replaces the parameters of a path by their examples.
func withExamples(path string, operation *openapi3.Operation) string {
	for _, parameter := range operation.Parameters {
		if parameter.Value.In == openapi3.ParameterInPath {
			path = strings.ReplaceAll(path, "{"+parameter.Value.Name+"}", fmt.Sprint(parameter.Value.Example))
		}
	}
	return path
}

// curlOf returns a request for a shell.
func curlOf(method, url string, body any) string {
	words := []string{"curl"}
	if strings.ContainsAny(url, "[]{}") { // which curl would expand
		words = append(words, "-g")
	}
	switch {
	case strings.HasSuffix(url, "/events"):
		words = append(words, "-N")
	case method != http.MethodGet:
		words = append(words, "-X", method)
	}
	words = append(words, url)
	if body != nil {
		if text, err := json.Marshal(body, json.Deterministic(true)); err == nil { // an example can always be encoded
			words = append(words, "-H", "Content-Type: application/json", "-d", string(text))
		}
	}
	return shell.Line(words...)
}

func readDescription(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/yaml")
	_, _ = w.Write(controlYAML) // a caller that hung up needs no response
}
