package request

import (
	"fmt"
	"net/http"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/moneymovement/moneymovement-go/openapi"
)

// Surface is a part of the service that has a credential of its own.
type Surface string

// The surfaces.
const (
	Platform  Surface = "platform API"        // the access token of a developer's session
	App       Surface = "app API"             // the app API key
	Reference Surface = "reference endpoints" // an access token of /api/v1
	Public    Surface = "public endpoints"    // no credential
)

// Keyed says what makes a repeated write the same write. Reads have the empty value.
type Keyed string

// The values of x-idempotency.
const (
	ByKey     Keyed = "key"     // the idempotency key
	ByItself  Keyed = "natural" // what it says, such as a client's email
	ByNothing Keyed = "none"    // a repeated write is another write
)

// Operation is an operation that the service's description has.
type Operation struct {
	ID      string // the operationId
	Method  string
	Path    string // the template, from the host's address on
	Summary string
	Surface Surface
	Open    bool // takes no credential, although its surface has one
	Keyed   Keyed
	// TakesKey says that Idempotency-Key may be sent, and TakesClient the same for X-Service-Account.
	TakesKey, TakesClient bool
	// Moneyless says that it moves no money, also if it is a write.
	Moneyless bool
}

// file is what one description holds, as far as it matters here.
type file struct {
	Servers []struct {
		URL string `yaml:"url"`
	} `yaml:"servers"`
	Paths map[string]map[string]yaml.Node `yaml:"paths"`
}

type described struct {
	OperationID string `yaml:"operationId"`
	Summary     string `yaml:"summary"`
	Idempotency Keyed  `yaml:"x-idempotency"`
	Money       string `yaml:"x-money"`
	Security    []any  `yaml:"security"`
	Parameters  []struct {
		Ref  string `yaml:"$ref"`
		Name string `yaml:"name"`
	} `yaml:"parameters"`
}

var files = []struct {
	name    string
	surface Surface
}{
	{"dapi.yaml", Platform}, {"appapi.yaml", App}, {"refapi.yaml", Reference}, {"public.yaml", Public},
}

// All returns every operation.
func All() ([]Operation, error) {
	var all []Operation
	for _, f := range files {
		text, err := openapi.Files.ReadFile(f.name)
		if err != nil {
			return nil, err
		}
		var description file
		if err := yaml.Unmarshal(text, &description); err != nil {
			return nil, fmt.Errorf("%s: %w", f.name, err)
		}
		base := ""
		if len(description.Servers) > 0 {
			base = strings.TrimPrefix(description.Servers[0].URL, "{base_url}")
		}
		for path, item := range description.Paths {
			for method, node := range item {
				if !isMethod(method) {
					continue
				}
				operation, err := read(node)
				if err != nil {
					return nil, fmt.Errorf("%s: %s %s: %w", f.name, method, path, err)
				}
				operation.Method, operation.Path, operation.Surface = strings.ToUpper(method), base+path, f.surface
				all = append(all, operation)
			}
		}
	}
	return all, nil
}

func isMethod(name string) bool {
	switch strings.ToUpper(name) {
	case http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete:
		return true
	}
	return false
}

func read(node yaml.Node) (Operation, error) {
	var d described
	if err := node.Decode(&d); err != nil {
		return Operation{}, err
	}
	o := Operation{
		ID: d.OperationID, Summary: d.Summary, Keyed: d.Idempotency, Moneyless: d.Money == "none",
		Open: d.Security != nil && len(d.Security) == 0,
	}
	for _, parameter := range d.Parameters {
		switch {
		case parameter.Name == "Idempotency-Key" || strings.HasSuffix(parameter.Ref, "/IdempotencyKey"):
			o.TakesKey = true
		case parameter.Name == "X-Service-Account" || strings.HasSuffix(parameter.Ref, "/ServiceAccount"):
			o.TakesClient = true
		}
	}
	return o, nil
}

// Find returns the operation of a request. Of several that match, the one with more literal segments is meant.
func Find(all []Operation, method, path string) (Operation, bool) {
	var found Operation
	most := -1
	for _, o := range all {
		if o.Method != method {
			continue
		}
		if literal, ok := match(o.Path, path); ok && literal > most {
			found, most = o, literal
		}
	}
	return found, most >= 0
}

// match reports whether a path has the form of a template, and how many segments are equal to the template's.
func match(template, path string) (literal int, ok bool) {
	want, got := strings.Split(template, "/"), strings.Split(path, "/")
	if len(want) != len(got) {
		return 0, false
	}
	for i, segment := range want {
		switch {
		case strings.HasPrefix(segment, "{") && got[i] != "":
		case segment == got[i]:
			literal++
		default:
			return 0, false
		}
	}
	return literal, true
}

// SurfaceOf returns the surface that a path belongs to, also for an operation that is not described.
func SurfaceOf(path string) Surface {
	switch {
	case below(path, "/dapi/v1"):
		return Platform
	case below(path, "/api/v1"):
		return Reference
	case below(path, "/utils"), below(path, "/public"):
		return Public
	}
	return App
}

func below(path, base string) bool { return path == base || strings.HasPrefix(path, base+"/") }
