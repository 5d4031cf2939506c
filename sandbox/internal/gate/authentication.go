package gate

import (
	"bytes"
	"net"
	"net/http"
	"net/netip"
	"regexp"
	"strings"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/clock"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/session"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
)

const (
	serviceAccount = "X-Service-Account"
	idempotencyKey = "Idempotency-Key"
)

// idempotencyKeys is the pattern of the header.
var idempotencyKeys = regexp.MustCompile(`^[A-Za-z0-9._:-]{1,128}$`)

// clientIDs is the pattern of a client's id. Its prefix is stated. The rest is like that of a contact's id.
var clientIDs = regexp.MustCompile(`^cl_[A-Za-z0-9._:\-]{1,216}$`)

// developerAuth authenticates callers with a session of a developer key.
type developerAuth struct {
	registry *session.KeyRegistry
	tokens   *session.Tokens
	windows  *clock.Counters
	isClient func(owner, client string) bool
}

// authenticate returns the caller of a request: the session of its token. The session needs room in its rate windows,
// and a developer key that may call this operation.
func (g *developerAuth) authenticate(r *http.Request, route *route, requestID string) (wire.Caller, error) {
	caller := wire.Caller{RequestID: requestID, Source: sourceOf(r)}
	if route.public {
		return caller, g.countLogin(route, caller.Source)
	}
	keyID, err := g.tokens.Authenticate(bearerOf(r))
	if err != nil {
		return caller, err
	}
	// Windows count per credential, not per account. A refresh keeps the credential.
	if err := g.windows.Take(route.credentialWindow(), keyID); err != nil {
		return caller, err
	}
	key, err := g.registry.Check(keyID, caller.Source, route.scope)
	if err != nil {
		return caller, err
	}
	caller.Owner, caller.Email, caller.KeyID = key.Owner, key.Email, key.ID
	caller.Signer = func(publicKey []byte) func() error { return g.signer(key, publicKey, caller.Source, route.scope) }
	if caller.Account, err = g.accountOf(r, key.Owner); err != nil {
		return caller, err
	}
	if route.window == "sandbox_money" {
		err = g.windows.Take(clock.SandboxMoney, key.Owner+"/"+caller.Account)
	}
	return caller, err
}

// signer repeats the checks of the session's key. If another key of the account signed, it checks that key as well.
func (g *developerAuth) signer(
	own session.Key, publicKey []byte, source netip.Addr, scope string,
) (check func() error) {
	keys := []string{own.ID}
	if !bytes.Equal(publicKey, own.PublicKey) {
		other, ok := g.registry.KeyOf(own.Owner, publicKey)
		if !ok {
			return nil
		}
		keys = append(keys, other)
	}
	return func() error {
		for _, id := range keys {
			if _, err := g.registry.Check(id, source, scope); err != nil {
				return err
			}
		}
		return nil
	}
}

// countLogin counts a login in the rate window of its IP address. A refresh counts as a write of its credential, once
// its token is known.
func (g *developerAuth) countLogin(route *route, source netip.Addr) error {
	if route.window != "login" {
		return nil
	}
	return g.windows.Take(clock.Login, source.String())
}

// accountOf reads the account that the request acts for: a client of the session's integrator, or the integrator
// itself.
func (g *developerAuth) accountOf(r *http.Request, owner string) (string, error) {
	values := r.Header.Values(serviceAccount)
	switch {
	case len(values) == 0:
		return wire.Self, nil
	case len(values) > 1 || !clientIDs.MatchString(values[0]):
		return "", wire.InvalidID("cl_")
	case !g.isClient(owner, values[0]):
		return "", wire.NotFound()
	default:
		return values[0], nil
	}
}

// idempotencyKeyOf reads the key of a write. Reads have no key.
func idempotencyKeyOf(r *http.Request) (string, error) {
	values := r.Header.Values(idempotencyKey)
	switch {
	case len(values) == 0 || r.Method == http.MethodGet:
		return "", nil
	case len(values) > 1 || !idempotencyKeys.MatchString(values[0]):
		return "", wire.IdempotencyKeyInvalid()
	default:
		return values[0], nil
	}
}

// bearerOf returns the token, or "" without a valid header.
func bearerOf(r *http.Request) string {
	values := r.Header.Values("Authorization")
	if len(values) != 1 {
		return ""
	}
	scheme, token, _ := strings.Cut(values[0], " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}

// sourceOf returns the peer's address. It ignores forwarding headers, because anybody can write them.
func sourceOf(r *http.Request) netip.Addr {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		host = r.RemoteAddr
	}
	address, _ := netip.ParseAddr(host)
	return address.Unmap()
}

const appKeyHeader = "X-Api-Key"

// appAuth authenticates callers with an app key.
type appAuth struct{ keys *session.AppKeys }

// appScopes has the scope that writes need, by the part of the app API. All reads need the same scope.
var appScopes = map[string]string{
	"Account":   session.AppScopeProfile,
	"Contacts":  session.AppScopeContacts,
	"Documents": session.AppScopeDocuments,
	"Invoices":  session.AppScopeDocuments,
	"Contracts": session.AppScopeDocuments,
	"Banks":     session.AppScopeBanks,
	"Cards":     session.AppScopeCards,
	"Transfers": session.AppScopeTransfers,
}

// scopeOf returns the scope that a route needs. Every key may read its own app.
func scopeOf(r *route) string {
	switch {
	case r.operation == "GetApp":
		return ""
	case r.method == http.MethodGet:
		return session.AppScopeRead
	default:
		return appScopes[r.tag]
	}
}

func (a *appAuth) authenticate(r *http.Request, route *route, requestID string) (wire.Caller, error) {
	caller := wire.Caller{RequestID: requestID, Source: sourceOf(r)}
	key, err := a.keys.Authenticate(appKeyOf(r))
	if err != nil {
		return caller, err
	}
	caller = key.Account.Caller()
	caller.KeyID, caller.RequestID, caller.Source = key.ID, requestID, sourceOf(r)
	return caller, key.Check(scopeOf(route))
}

// appKeyOf returns the key, which may be in either of two headers. If the headers differ, there is no key.
func appKeyOf(r *http.Request) string {
	bearer, keys := bearerOf(r), r.Header.Values(appKeyHeader)
	switch {
	case len(keys) == 0:
		return bearer
	case len(keys) > 1, r.Header.Get("Authorization") != "" && bearer != keys[0]:
		return ""
	default:
		return keys[0]
	}
}

// referenceAuth authenticates callers with an access token. If the request has an app key too, it must belong to the
// same account.
type referenceAuth struct {
	tokens *session.AccessTokens
	keys   *session.AppKeys
}

func (a *referenceAuth) authenticate(r *http.Request, _ *route, requestID string) (wire.Caller, error) {
	account, err := a.tokens.Authenticate(bearerOf(r))
	caller := account.Caller()
	caller.RequestID, caller.Source = requestID, sourceOf(r)
	if err != nil {
		return wire.Caller{RequestID: requestID, Source: caller.Source}, err
	}
	values := r.Header.Values(appKeyHeader)
	if len(values) == 0 {
		return caller, nil
	}
	key, err := a.keys.Authenticate(values[0])
	if err != nil {
		return caller, err
	}
	if len(values) > 1 || key.Account != account {
		return caller, wire.Unauthenticated()
	}
	caller.KeyID = key.ID
	return caller, nil
}

// allowAnyone accepts requests without a credential.
func allowAnyone(r *http.Request, _ *route, requestID string) (wire.Caller, error) {
	return wire.Caller{RequestID: requestID, Source: sourceOf(r)}, nil
}
