package gate

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/routers"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/api"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/refuse"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/window"
)

// Base is the path of the platform API.
const Base = "/dapi/v1"

// route is one operation with what the description says about it.
type route struct {
	method   string
	segments []string // of the path; {name} stands for a parameter
	handler  http.HandlerFunc

	described *routers.Route
	operation string // operationId
	public    bool   // needs no session
	scope     string // of the developer key; empty: none
	window    string // x-window
	ids       idFields
}

// routes holds the operations that the generated server mounts, joined with
// their descriptions. It implements [api.ServeMux] to be told of them.
type routes struct {
	document *openapi3.T
	list     []*route
	err      error
}

// mount builds the routes of the operations. Errors of the generated layer,
// which the description's validation leaves nothing to find for, go to refused.
func mount(document *openapi3.T, operations api.StrictServerInterface, refused func(http.ResponseWriter, *http.Request, error)) (*routes, error) {
	all := &routes{document: document}
	unreadable := func(w http.ResponseWriter, r *http.Request, err error) {
		refused(w, r, refuse.InvalidRequest("The request cannot be read."))
	}
	strict := api.NewStrictHandlerWithOptions(operations, nil, api.StrictHTTPServerOptions{
		RequestErrorHandlerFunc: unreadable, ResponseErrorHandlerFunc: refused,
	})
	api.HandlerWithOptions(strict, api.StdHTTPServerOptions{BaseURL: Base, BaseRouter: all, ErrorHandlerFunc: unreadable})
	return all, all.err
}

// HandleFunc takes one operation of the generated server.
func (rs *routes) HandleFunc(pattern string, handler func(http.ResponseWriter, *http.Request)) {
	method, path, _ := strings.Cut(pattern, " ")
	described := strings.TrimPrefix(path, Base)
	item := rs.document.Paths.Value(described)
	if item == nil || item.GetOperation(method) == nil {
		rs.err = fmt.Errorf("gate: the description has no %s", pattern)
		return
	}
	operation := item.GetOperation(method)
	rs.list = append(rs.list, &route{
		method: method, segments: strings.Split(path, "/"), handler: handler,
		described: &routers.Route{Spec: rs.document, Path: described, PathItem: item, Method: method, Operation: operation},
		operation: operation.OperationID,
		public:    operation.Security != nil && len(*operation.Security) == 0,
		scope:     extension(operation.Extensions, "x-scope"),
		window:    extension(operation.Extensions, "x-window"),
		ids:       idFieldsOf(operation),
	})
}

// ServeHTTP completes [api.ServeMux]; requests come through the gate instead.
func (rs *routes) ServeHTTP(w http.ResponseWriter, r *http.Request) { http.NotFound(w, r) }

// perCredential is the window that the credential's counter belongs to.
func (r *route) perCredential() window.Window {
	if r.method == http.MethodGet {
		return window.Reads
	}
	return window.Writes
}

// find answers the route of a request and its path parameters, or the refusal:
// not_found, or method_not_allowed with the verbs that the path takes.
func (rs *routes) find(r *http.Request) (*route, map[string]string, error) {
	segments := strings.Split(r.URL.EscapedPath(), "/")
	var allowed []string
	for _, candidate := range rs.list {
		parameters, ok := candidate.match(segments)
		switch {
		case !ok:
		case candidate.method != r.Method:
			allowed = append(allowed, candidate.method)
		default:
			return candidate, parameters, nil
		}
	}
	if len(allowed) > 0 {
		slices.Sort(allowed)
		return nil, nil, &wrongMethod{Refusal: refuse.MethodNotAllowed(), allowed: allowed}
	}
	return nil, nil, refuse.NotFound()
}

// match compares segment by segment, before unescaping: an escaped slash in an
// id never changes the path.
func (r *route) match(segments []string) (map[string]string, bool) {
	if len(segments) != len(r.segments) {
		return nil, false
	}
	var parameters map[string]string
	for i, want := range r.segments {
		got := segments[i]
		if !strings.HasPrefix(want, "{") {
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

// wrongMethod is method_not_allowed together with what the Allow header says.
type wrongMethod struct {
	*refuse.Refusal
	allowed []string
}

func (e *wrongMethod) Unwrap() error { return e.Refusal }
