package sandbox

import (
	"encoding/base64"
	"time"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/session"
)

// KeyRegistration asks for a developer key, which an integrator would make in
// the service's own application.
type KeyRegistration struct {
	// Email names the account; one that is new to the host makes a new account.
	Email string
	// PublicKey is the DER SubjectPublicKeyInfo: ECDSA P-256 or secp256k1, Ed25519, or RSA from 2048 bits.
	PublicKey []byte
	// Scopes are what the key may do, of [Scopes]; all of them when nil.
	Scopes []string
	// Allowlist is 1 to 64 addresses or CIDR networks; every address when nil.
	Allowlist []string
}

// DeveloperKey is a registered developer key. Keys are immutable. Source:
// Authentication, Platform API.
type DeveloperKey struct {
	ID        string // dk_
	Email     string // of the account
	PublicKey []byte // DER SubjectPublicKeyInfo
	Scopes    []string
	Allowlist []string // empty: every address
	CreatedAt time.Time
}

// Scopes answers the four scopes. The description says that there are four and
// does not name them.
func Scopes() []string { return session.Scopes() }

// RegisterKey registers a developer key. The error says which slug an
// application would answer: validation_failed, or developer_key_already_exists.
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

// DeleteKey deletes a developer key; the sessions that it minted stop at once.
// An unknown id is refused with developer_key_not_found.
func (h *Host) DeleteKey(id string) error { return h.registry.Delete(id) }

// Keys answers the developer keys of every account, oldest first.
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
