package gate

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/routers"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/clock"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/appwire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/platformwire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/publicwire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/referencewire"
)

// Base is the path of the platform API.
const Base = "/dapi/v1"

// endpoint is where an operation is served. All hosts of a process share it. Its route is made at the first request.
type endpoint struct {
	method, path string   // as in the description
	full         string   // the path with its base
	segments     []string // of the full path; {name} stands for a parameter
	index        int      // among the routes of the generated server
	describe     func() (*route, error)
}

// newEndpoint joins an operation with its description. The description's paths have no base path.
func newEndpoint(base, method, path string, index int, described operationDescription) *endpoint {
	return &endpoint{
		method: method, path: path, full: base + path, segments: strings.Split(base+path, "/"), index: index,
		describe: sync.OnceValues(func() (*route, error) {
			document, err := described()
			if err != nil {
				return nil, fmt.Errorf("gate: the description of %s %s: %w", method, path, err)
			}
			return newRoute(document, method, path), nil
		}),
	}
}

// route is one operation with its description. Nothing changes it.
type route struct {
	method    string
	described *routers.Route // without the headers that the gate checks itself
	takesKey  bool           // by the description
	operation string         // operationId
	public    bool           // needs no session
	scope     string         // of the developer key; "" for none
	window    string         // x-window
	tag       string         // the part of the surface
	resource  string         // the name of the last parameter of the path, or ""
	ids       idFields
	numbers   *numberSchema // of the body
}

func newRoute(document *openapi3.T, method, path string) *route {
	item := document.Paths.Value(path)
	operation := item.GetOperation(method)
	validated := *operation
	validated.Parameters = slices.DeleteFunc(slices.Clone(operation.Parameters), isCheckedHeader)
	return &route{
		method: method,
		described: &routers.Route{Spec: document, Path: path, PathItem: item, Method: method,
			Operation: &validated},
		takesKey:  operation.Parameters.GetByInAndName(openapi3.ParameterInHeader, idempotencyKey) != nil,
		operation: operation.OperationID,
		public:    operation.Security != nil && len(*operation.Security) == 0,
		scope:     extension(operation.Extensions, "x-scope"),
		window:    extension(operation.Extensions, "x-window"),
		tag:       first(operation.Tags),
		resource:  resourceOf(path),
		ids:       idFieldsOf(operation),
		numbers:   numbersOfBody(operation),
	}
}

// isCheckedHeader reports whether authentication checks this header, by the same pattern.
func isCheckedHeader(parameter *openapi3.ParameterRef) bool {
	return parameter.Value.In == openapi3.ParameterInHeader &&
		(parameter.Value.Name == serviceAccount || parameter.Value.Name == idempotencyKey)
}

func first(tags []string) string {
	if len(tags) == 0 {
		return ""
	}
	return tags[0]
}

// credentialWindow returns the window that counts this route for the credential.
func (r *route) credentialWindow() clock.Window {
	if r.method == http.MethodGet {
		return clock.Reads
	}
	return clock.Writes
}

// addsRecords reports whether the operation can make the host keep more records.
func (r *route) addsRecords() bool {
	return r.method != http.MethodGet && r.method != http.MethodDelete
}

// declaresKey reports whether the operation takes an idempotency key by the description.
func (r *route) declaresKey() bool { return r.takesKey }

// routes are the operations of a surface.
type routes []*endpoint

// The operations of each surface.
var (
	platformRoutes  = joinRoutes(Base, platformOperations, platformwire.Routes)
	referenceRoutes = joinRoutes("", referenceOperations, referencewire.Routes)
	publicRoutes    = joinRoutes("", publicOperations, publicwire.Routes)
	appRoutes       = joinRoutes("", appOperations, appwire.Routes)
)

// joinRoutes joins the routes of a generated server with the description, once for all hosts of a process.
func joinRoutes[Server any](
	base string, operations func() operationDescriptions, served func(Server) []wire.Route,
) func() (routes, error) {
	return sync.OnceValues(func() (routes, error) {
		var none Server
		var all routes
		for i, s := range served(none) {
			operation := operations()[s.Method+" "+s.Path]
			if operation == nil {
				return nil, fmt.Errorf("gate: the description has no %s %s", s.Method, s.Path)
			}
			all = append(all, newEndpoint(base, s.Method, s.Path, i, operation))
		}
		all.sort()
		return all, nil
	})
}

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

// find returns the endpoint of a request and its path parameters, or the refusal: not_found, or method_not_allowed with
// the methods of the path.
func (rs routes) find(r *http.Request) (*endpoint, map[string]string, error) {
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
			return candidate, parameters, nil
		}
		allowed = append(allowed, candidate.method)
	}
	if len(allowed) > 0 {
		slices.Sort(allowed)
		return nil, nil, &wrongMethod{Refusal: wire.MethodNotAllowed(), allowed: allowed}
	}
	return nil, nil, wire.NotFound()
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
	*wire.Refusal
	allowed []string
}

func (e *wrongMethod) Unwrap() error { return e.Refusal }

// extension returns a string extension, or "".
func extension(extensions map[string]any, name string) string {
	text, _ := extensions[name].(string)
	return text
}

// The limits of a request's body, in bytes. The description says that there is a limit (413), and does not say which.
// The app API accepts documents, which are in base64.
const (
	maxBody    = 1 << 20
	maxAppBody = 14 << 20
)

// surface is one part of the service: its paths, its operations, and its own credential.
type surface struct {
	paths      []string // the beginnings of its paths; the last surface has none, and gets all other paths
	load       func() (routes, error)
	routes     routes       // what joined returned: the operations, each with its description
	operations []wire.Route // what runs them on this host
	// authenticate returns the caller of a request, or refuses it.
	authenticate func(r *http.Request, route *route, requestID string) (wire.Caller, error)
	// maxBody is the limit of a request's body, in bytes.
	maxBody int64
	// takesKey reports whether a write takes an idempotency key.
	takesKey func(*route) bool
	// detailed surfaces write failed validations as an array of details and not as the envelope.
	detailed bool
}

// owns reports whether a path belongs to the surface.
func (s *surface) owns(path string) bool {
	for _, start := range s.paths {
		if rest, ok := strings.CutPrefix(path, start); ok && (rest == "" || rest[0] == '/') {
			return true
		}
	}
	return len(s.paths) == 0
}

// mountAll mounts every surface's operations.
func (g *Gate) mountAll(config Config) ([]*surface, error) {
	developer := &developerAuth{config.Registry, config.Tokens, config.Windows, config.IsClient}
	app := &appAuth{config.AppKeys}
	reference := &referenceAuth{config.AccessTokens, config.AppKeys}
	surfaces := []*surface{
		{
			paths: []string{Base}, load: platformRoutes, operations: platformwire.Routes(config.Platform),
			authenticate: developer.authenticate, maxBody: maxBody, takesKey: everyWrite,
		},
		{
			paths: []string{"/api/v1"}, load: referenceRoutes, operations: referencewire.Routes(config.Reference),
			authenticate: reference.authenticate, maxBody: maxBody, takesKey: (*route).declaresKey, detailed: true,
		},
		{
			paths: []string{"/utils", "/public"}, load: publicRoutes, operations: publicwire.Routes(config.Public),
			authenticate: allowAnyone, maxBody: maxBody, takesKey: (*route).declaresKey,
		},
		{
			load: appRoutes, operations: appwire.Routes(config.App),
			authenticate: app.authenticate, maxBody: maxAppBody, takesKey: (*route).declaresKey,
		},
	}
	for _, s := range surfaces {
		var err error
		if s.routes, err = s.load(); err != nil {
			return nil, err
		}
	}
	return surfaces, nil
}

// everyWrite takes an idempotency key for every write.
func everyWrite(*route) bool { return true }
