package gate

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/caller"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/refuse"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/appwire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/platformwire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/publicwire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/referencewire"
)

// How many bytes a request's body may have. The description says that there is a limit (413) and not which. The app API
// takes documents, which travel in base64.
const (
	maxBody    = 1 << 20
	maxAppBody = 14 << 20
)

// surface is one part of the service: its paths, its operations, and its own credential. Source: Surfaces.
type surface struct {
	paths  []string // what its paths begin with; the last surface has none and takes what no other does
	base   string   // of paths that the description writes without
	routes *routes
	// document is the description, and serve tells routes of the generated server's operations.
	document func() (*openapi3.T, error)
	serve    func(*routes)
	// admit answers who makes a request, or refuses it.
	admit func(r *http.Request, route *route, requestID string) (caller.Caller, error)
	// maxBody is how many bytes a request's body may have.
	maxBody int64
	// keyed tells whether a write takes an idempotency key.
	keyed func(*route) bool
	// detailed writes failed validations as an array of details instead of the envelope.
	detailed bool
}

// owns tells whether a path is the surface's.
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
	developer := &developerGuard{config.Registry, config.Tokens, config.Windows, config.IsClient}
	app := &appGuard{config.AppKeys}
	reference := &referenceGuard{config.AccessTokens, config.AppKeys}
	surfaces := []*surface{
		{
			paths: []string{Base}, base: Base, document: platformDocument,
			serve: func(rs *routes) { g.servePlatform(rs, config.Platform) },
			admit: developer.admit, maxBody: maxBody, keyed: everyWrite,
		},
		{
			paths: []string{"/api/v1"}, document: referenceDocument,
			serve: func(rs *routes) { g.serveReference(rs, config.Reference) },
			admit: reference.admit, maxBody: maxBody, keyed: (*route).declaresKey, detailed: true,
		},
		{
			paths: []string{"/utils", "/public"}, document: publicDocument,
			serve: func(rs *routes) { rs.serve(publicwire.Routes(config.Public)) },
			admit: admitAnyone, maxBody: maxBody, keyed: (*route).declaresKey,
		},
		{
			document: appDocument,
			serve:    func(rs *routes) { g.serveApp(rs, config.App) },
			admit:    app.admit, maxBody: maxAppBody, keyed: (*route).declaresKey,
		},
	}
	for _, s := range surfaces {
		if err := s.mount(); err != nil {
			return nil, err
		}
	}
	return surfaces, nil
}

// everyWrite takes a key. Source: Limits, Idempotency.
func everyWrite(*route) bool { return true }

// mount joins what the generated server mounts with the description.
func (s *surface) mount() error {
	document, err := s.document()
	if err != nil {
		return fmt.Errorf("gate: a description cannot be read: %w", err)
	}
	s.routes = &routes{document: document, base: s.base}
	s.serve(s.routes)
	s.routes.sort()
	return s.routes.err
}

// unreadable is what the generated servers say of a request that they cannot read. The gate has refused, by name, all
// that it knows they cannot. Why they failed is not looked at: how encoding/json words it differs between releases of Go.
func (g *Gate) unreadable(w http.ResponseWriter, r *http.Request, _ error) {
	g.refused(w, r, refuse.Unreadable())
}

func (g *Gate) servePlatform(rs *routes, operations platformwire.StrictServerInterface) {
	strict := platformwire.NewStrictHandlerWithOptions(operations, nil, platformwire.StrictHTTPServerOptions{
		RequestErrorHandlerFunc: g.unreadable, ResponseErrorHandlerFunc: g.refused,
	})
	platformwire.HandlerWithOptions(strict, platformwire.StdHTTPServerOptions{BaseURL: Base, BaseRouter: rs, ErrorHandlerFunc: g.unreadable})
}

func (g *Gate) serveApp(rs *routes, operations appwire.StrictServerInterface) {
	strict := appwire.NewStrictHandlerWithOptions(operations, nil, appwire.StrictHTTPServerOptions{
		RequestErrorHandlerFunc: g.unreadable, ResponseErrorHandlerFunc: g.refused,
	})
	appwire.HandlerWithOptions(strict, appwire.StdHTTPServerOptions{BaseRouter: rs, ErrorHandlerFunc: g.unreadable})
}

func (g *Gate) serveReference(rs *routes, operations referencewire.StrictServerInterface) {
	strict := referencewire.NewStrictHandlerWithOptions(operations, nil, referencewire.StrictHTTPServerOptions{
		RequestErrorHandlerFunc: g.unreadable, ResponseErrorHandlerFunc: g.refused,
	})
	referencewire.HandlerWithOptions(strict, referencewire.StdHTTPServerOptions{BaseRouter: rs, ErrorHandlerFunc: g.unreadable})
}
