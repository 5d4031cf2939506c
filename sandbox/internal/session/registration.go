package session

import (
	"encoding/base64"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
)

// The limits of a developer key.
const (
	maxPublicKey = 4096
	maxAllowlist = 64
)

// Registration is a request for a developer key, as the service's own application would make it.
type Registration struct {
	// Email names the account. If the host does not know it, it creates the account.
	Email string `json:"email"`
	// PublicKey is the DER SubjectPublicKeyInfo in base64, at most 4,096 characters.
	PublicKey string `json:"publicKey"`
	// Scopes are the scopes of the key, all four if empty.
	Scopes []string `json:"scopes,omitzero"`
	// Allowlist has 1 to 64 addresses or CIDR networks. Without it, every address is allowed.
	Allowlist []string `json:"allowlist,omitzero"`
}

// key checks a registration. Refusals name the fields.
func (r Registration) key() (*Key, error) {
	var wrong []wire.Field
	refuseField := func(field, code, message string) {
		wrong = append(wrong, wire.Field{Field: field, Code: code, Message: message})
	}

	key := &Key{Email: CanonicalEmail(r.Email), Scopes: slices.Clone(r.Scopes)}
	if key.Email == "" {
		refuseField("email", "missing", "email is required: a key belongs to an account.")
	}
	der, err := base64.StdEncoding.DecodeString(r.PublicKey)
	switch {
	case r.PublicKey == "":
		refuseField("publicKey", "missing", "publicKey is required.")
	case len(r.PublicKey) > maxPublicKey:
		refuseField("publicKey", "string_too_long",
			fmt.Sprintf("A public key has at most %d characters.", maxPublicKey))
	case err != nil:
		refuseField("publicKey", "bytes_invalid_encoding", "A public key must be DER in standard base64.")
	case !usable(der):
		refuseField("publicKey", "value_error",
			"A public key must be ECDSA P-256 or secp256k1, Ed25519, or RSA with at least 2048 bits.")
	}
	key.PublicKey = der

	if r.Scopes == nil {
		key.Scopes = Scopes()
	}
	for i, scope := range r.Scopes {
		if !slices.Contains(Scopes(), scope) {
			refuseField(fmt.Sprintf("scopes.%d", i), "enum", "There is no such scope.")
		}
	}
	if r.Allowlist != nil && len(r.Allowlist) == 0 || len(r.Allowlist) > maxAllowlist {
		refuseField("allowlist", "too_long", fmt.Sprintf("An allowlist has 1 to %d entries.", maxAllowlist))
	}
	for i, entry := range r.Allowlist {
		network, ok := parseNetwork(entry)
		if !ok {
			refuseField(fmt.Sprintf("allowlist.%d", i), "value_error", "An entry is an address or a CIDR network.")
		}
		key.Allowlist = append(key.Allowlist, network)
	}
	if len(wrong) > 0 {
		return nil, wire.ValidationFailed("", wrong...)
	}
	return key, nil
}

// parseNetwork reads an address or a CIDR network. An IPv4 address that is mapped into IPv6 becomes IPv4 again, like
// source addresses.
func parseNetwork(entry string) (netip.Prefix, bool) {
	if network, err := netip.ParsePrefix(entry); err == nil {
		if mapped := network.Bits() - 96; network.Addr().Is4In6() && mapped >= 0 {
			network = netip.PrefixFrom(network.Addr().Unmap(), mapped)
		}
		return network.Masked(), true
	}
	address, err := netip.ParseAddr(entry)
	if err != nil || address.Zone() != "" {
		return netip.Prefix{}, false
	}
	address = address.Unmap()
	return netip.PrefixFrom(address, address.BitLen()), true
}

// CanonicalEmail returns an email as it is stored.
func CanonicalEmail(email string) string {
	return strings.ToLower(strings.TrimSpace(email))
}
