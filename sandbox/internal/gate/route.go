package gate

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/routers"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/described"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/refuse"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/serve"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/window"
)

// Base is the path of the platform API.
const Base = "/dapi/v1"

// endpoint is where an operation is served. Its route is made at the first request.
type endpoint struct {
	method, path string   // as in the description
	segments     []string // of the path with its base; {name} stands for a parameter
	open         func() (*route, error)
}

// newEndpoint joins an operation with its description. The description's paths have no base path.
func newEndpoint(base string, served serve.Route, described described.Operation) *endpoint {
	return &endpoint{
		method: served.Method, path: served.Path, segments: strings.Split(base+served.Path, "/"),
		open: sync.OnceValues(func() (*route, error) {
			document, err := described()
			if err != nil {
				return nil, fmt.Errorf("gate: the description of %s %s: %w", served.Method, served.Path, err)
			}
			return newRoute(document, served), nil
		}),
	}
}

// route is one operation with its description.
type route struct {
	method string
	run    func(context.Context, *serve.Request) (serve.Answer, error)

	described *routers.Route // without the headers that the gate checks itself
	takesKey  bool           // by the description
	operation string         // operationId
	public    bool           // needs no session
	scope     string         // of the developer key; "" for none
	window    string         // x-window
	tag       string         // the part of the surface
	resource  string         // the name of the last parameter of the path, or ""
	ids       idFields
	numbers   *numbers // of the body
}

func newRoute(document *openapi3.T, served serve.Route) *route {
	item := document.Paths.Value(served.Path)
	operation := item.GetOperation(served.Method)
	validated := *operation
	validated.Parameters = slices.DeleteFunc(slices.Clone(operation.Parameters), isAdmitted)
	return &route{
		method: served.Method, run: served.Run,
		described: &routers.Route{Spec: document, Path: served.Path, PathItem: item, Method: served.Method,
			Operation: &validated},
		takesKey:  operation.Parameters.GetByInAndName(openapi3.ParameterInHeader, idempotencyKey) != nil,
		operation: operation.OperationID,
		public:    operation.Security != nil && len(*operation.Security) == 0,
		scope:     extension(operation.Extensions, "x-scope"),
		window:    extension(operation.Extensions, "x-window"),
		tag:       firstOf(operation.Tags),
		resource:  resourceOf(served.Path),
		ids:       idFieldsOf(operation),
		numbers:   numbersOfBody(operation),
	}
}

// isAdmitted reports whether the gate checks a parameter before the validation, by the same pattern.
func isAdmitted(parameter *openapi3.ParameterRef) bool {
	return parameter.Value.In == openapi3.ParameterInHeader &&
		(parameter.Value.Name == serviceAccount || parameter.Value.Name == idempotencyKey)
}

func firstOf(tags []string) string {
	if len(tags) == 0 {
		return ""
	}
	return tags[0]
}

// perCredential returns the window that counts this route for the credential.
func (r *route) perCredential() window.Window {
	if r.method == http.MethodGet {
		return window.Reads
	}
	return window.Writes
}

// adds reports whether the operation can make the host keep more records.
func (r *route) adds() bool { return r.method != http.MethodGet && r.method != http.MethodDelete }

// declaresKey reports whether the operation takes an idempotency key by the description.
func (r *route) declaresKey() bool { return r.takesKey }

// routes are the operations of a surface.
type routes []*endpoint

// sort puts a path with a literal segment before a path with a parameter in its place. Contract and invoice ids are
// UUIDs, so the segment invoices is never an id.
func (rs routes) sort() {
	slices.SortStableFunc(rs, func(a, b *endpoint) int {
		return slices.CompareFunc(a.segments, b.segments, literalFirst)
	})
}

func literalFirst(a, b string) int {
	switch {
	case isParameter(a) && isParameter(b):
		return 0
	case isParameter(a):
		return 1
	case isParameter(b):
		return -1
	default:
		return strings.Compare(a, b)
	}
}

func isParameter(segment string) bool { return strings.HasPrefix(segment, "{") }

// find returns the route of a request and its path parameters, or the refusal: not_found, or method_not_allowed with
// the methods of the path.
func (rs routes) find(r *http.Request) (*route, map[string]string, error) {
	segments := strings.Split(r.URL.EscapedPath(), "/")
	var allowed []string
	var path string // the first path that matches wins
	for _, candidate := range rs {
		parameters, ok := candidate.match(segments)
		if !ok || path != "" && candidate.path != path {
			continue
		}
		path = candidate.path
		if candidate.method == r.Method {
			opened, err := candidate.open()
			return opened, parameters, err
		}
		allowed = append(allowed, candidate.method)
	}
	if len(allowed) > 0 {
		slices.Sort(allowed)
		return nil, nil, &wrongMethod{Refusal: refuse.MethodNotAllowed(), allowed: allowed}
	}
	return nil, nil, refuse.NotFound()
}

// match compares segment by segment, before unescaping, so that an escaped slash in an id never changes the path.
func (e *endpoint) match(segments []string) (map[string]string, bool) {
	if len(segments) != len(e.segments) {
		return nil, false
	}
	var parameters map[string]string
	for i, want := range e.segments {
		got := segments[i]
		if !isParameter(want) {
			if got != want {
				return nil, false
			}
			continue
		}
		value, err := url.PathUnescape(got)
		if err != nil || value == "" {
			return nil, false
		}
		if parameters == nil {
			parameters = map[string]string{}
		}
		parameters[strings.Trim(want, "{}")] = value
	}
	return parameters, true
}

// wrongMethod is method_not_allowed with the content of the Allow header.
type wrongMethod struct {
	*refuse.Refusal
	allowed []string
}

func (e *wrongMethod) Unwrap() error { return e.Refusal }

// extension returns a string extension, or "".
func extension(extensions map[string]any, name string) string {
	text, _ := extensions[name].(string)
	return text
}
