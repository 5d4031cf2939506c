package sandbox

import (
	"encoding/base64"
	"time"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/session"
)

// KeyRegistration describes a developer key. At the real service, an integrator registers keys in the service's web
// application.
type KeyRegistration struct {
	// Email names the account. If no account has this email, the host creates one.
	Email string
	// PublicKey is the public key as DER SubjectPublicKeyInfo: ECDSA P-256 or secp256k1, Ed25519, or RSA with at least
	// 2048 bits.
	PublicKey []byte
	// Scopes are what the key may do. They are from [Scopes]; nil means every scope.
	Scopes []string
	// Allowlist has 1 to 64 IP addresses or CIDR networks that the key works from; nil means every address.
	Allowlist []string
}

// DeveloperKey is a registered developer key. A key is never changed, only deleted.
type DeveloperKey struct {
	ID        string // dk_
	Email     string // of the account
	PublicKey []byte // DER SubjectPublicKeyInfo
	Scopes    []string
	Allowlist []string // empty means every address
	CreatedAt time.Time
}

// Scopes returns the scopes of developer keys: read, contacts:write, payouts:write and accounts:write. The service's
// description says that there are four and does not name them, so the names are the host's own.
func Scopes() []string { return session.Scopes() }

// RegisterKey registers a developer key. Use it to test a program that rotates keys, or a key with few scopes. The
// error names the invalid fields (validation_failed), or says that the key is registered already
// (developer_key_already_exists).
func (h *Host) RegisterKey(registration KeyRegistration) (DeveloperKey, error) {
	key, err := h.registry.Register(session.Registration{
		Email:     registration.Email,
		PublicKey: base64.StdEncoding.EncodeToString(registration.PublicKey),
		Scopes:    registration.Scopes,
		Allowlist: registration.Allowlist,
	})
	if err != nil {
		return DeveloperKey{}, err
	}
	return publicView(key), nil
}

// DeleteKey deletes a developer key. The sessions that logged in with it end at once. For an unknown id, the error
// contains developer_key_not_found.
func (h *Host) DeleteKey(id string) error { return h.registry.Delete(id) }

// Keys returns the developer keys of every account, oldest first.
func (h *Host) Keys() []DeveloperKey {
	keys := h.registry.Keys()
	views := make([]DeveloperKey, len(keys))
	for i, key := range keys {
		views[i] = publicView(key)
	}
	return views
}

func publicView(key session.Key) DeveloperKey {
	view := DeveloperKey{
		ID: key.ID, Email: key.Email, PublicKey: append([]byte(nil), key.PublicKey...),
		Scopes: append([]string(nil), key.Scopes...), CreatedAt: key.CreatedAt,
	}
	for _, network := range key.Allowlist {
		view.Allowlist = append(view.Allowlist, network.String())
	}
	return view
}
