package gate

import (
	"net/http"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/session"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
)

const appKeyHeader = "X-Api-Key"

// appGuard admits callers with an app key.
type appGuard struct{ keys *session.AppKeys }

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

func (a *appGuard) admit(r *http.Request, route *route, requestID string) (wire.Caller, error) {
	who := wire.Caller{RequestID: requestID, Source: sourceOf(r)}
	key, err := a.keys.Authenticate(appKeyOf(r))
	if err != nil {
		return who, err
	}
	who = key.Account.Caller()
	who.KeyID, who.RequestID, who.Source = key.ID, requestID, sourceOf(r)
	return who, key.Check(scopeOf(route))
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

// referenceGuard admits callers with an access token. If the request has an app key too, it must belong to the same
// account.
type referenceGuard struct {
	tokens *session.AccessTokens
	keys   *session.AppKeys
}

func (a *referenceGuard) admit(r *http.Request, _ *route, requestID string) (wire.Caller, error) {
	account, err := a.tokens.Authenticate(bearerOf(r))
	who := account.Caller()
	who.RequestID, who.Source = requestID, sourceOf(r)
	if err != nil {
		return wire.Caller{RequestID: requestID, Source: who.Source}, err
	}
	values := r.Header.Values(appKeyHeader)
	if len(values) == 0 {
		return who, nil
	}
	key, err := a.keys.Authenticate(values[0])
	if err != nil {
		return who, err
	}
	if len(values) > 1 || key.Account != account {
		return who, wire.Unauthenticated()
	}
	who.KeyID = key.ID
	return who, nil
}

// admitAnyone admits everybody.
func admitAnyone(r *http.Request, _ *route, requestID string) (wire.Caller, error) {
	return wire.Caller{RequestID: requestID, Source: sourceOf(r)}, nil
}
