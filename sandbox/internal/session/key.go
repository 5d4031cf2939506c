package session

import (
	"net/netip"
	"slices"
	"time"
)

// The scopes of a developer key. The description says that there are four, and does not name them.
const (
	ScopeRead     = "read"
	ScopeContacts = "contacts:write"
	ScopePayouts  = "payouts:write"
	ScopeAccounts = "accounts:write"
)

// Scopes returns all four scopes.
func Scopes() []string {
	return []string{ScopeRead, ScopeContacts, ScopePayouts, ScopeAccounts}
}

// Key is a developer key. Keys are immutable.
type Key struct {
	ID        string // dk_
	Owner     string // id of the account
	Email     string // of the account
	PublicKey []byte // DER SubjectPublicKeyInfo
	Scopes    []string
	Allowlist []netip.Prefix // empty for every address
	CreatedAt time.Time
}

// allows reports whether requests may come from source.
func (k *Key) allows(source netip.Addr) bool {
	if len(k.Allowlist) == 0 {
		return true
	}
	source = source.Unmap().WithZone("")
	return slices.ContainsFunc(k.Allowlist, func(p netip.Prefix) bool { return p.Contains(source) })
}

// holds reports whether the key has the scope of a route. A route may need no scope.
func (k *Key) holds(scope string) bool {
	return scope == "" || slices.Contains(k.Scopes, scope)
}
