package gate

import (
	"net/http"
	"strings"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/appwire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/platformwire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/publicwire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/referencewire"
)

// The limits of a request's body, in bytes. The description says that there is a limit (413), and does not say which.
// The app API accepts documents, which are in base64.
const (
	maxBody    = 1 << 20
	maxAppBody = 14 << 20
)

// surface is one part of the service: its paths, its operations, and its own credential.
type surface struct {
	paths  []string // the beginnings of its paths; the last surface has none, and gets all other paths
	joined func() (routes, error)
	routes routes       // what joined returned: the operations, each with its description
	served []wire.Route // what runs them on this host
	// admit returns the caller of a request, or refuses it.
	admit func(r *http.Request, route *route, requestID string) (wire.Caller, error)
	// maxBody is the limit of a request's body, in bytes.
	maxBody int64
	// keyed reports whether a write takes an idempotency key.
	keyed func(*route) bool
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
	developer := &developerGuard{config.Registry, config.Tokens, config.Windows, config.IsClient}
	app := &appGuard{config.AppKeys}
	reference := &referenceGuard{config.AccessTokens, config.AppKeys}
	surfaces := []*surface{
		{
			paths: []string{Base}, joined: platformRoutes, served: platformwire.Routes(config.Platform),
			admit: developer.admit, maxBody: maxBody, keyed: everyWrite,
		},
		{
			paths: []string{"/api/v1"}, joined: referenceRoutes, served: referencewire.Routes(config.Reference),
			admit: reference.admit, maxBody: maxBody, keyed: (*route).declaresKey, detailed: true,
		},
		{
			paths: []string{"/utils", "/public"}, joined: publicRoutes, served: publicwire.Routes(config.Public),
			admit: admitAnyone, maxBody: maxBody, keyed: (*route).declaresKey,
		},
		{
			joined: appRoutes, served: appwire.Routes(config.App),
			admit: app.admit, maxBody: maxAppBody, keyed: (*route).declaresKey,
		},
	}
	for _, s := range surfaces {
		var err error
		if s.routes, err = s.joined(); err != nil {
			return nil, err
		}
	}
	return surfaces, nil
}

// everyWrite takes an idempotency key for every write.
func everyWrite(*route) bool { return true }
