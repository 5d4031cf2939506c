package sandbox

import (
	"encoding/base64"
	"slices"
	"time"

	"github.com/shopspring/decimal"

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

// AppKeyRegistration describes an app key. The service's description does not say how an app key is issued; the host
// issues one on request.
type AppKeyRegistration struct {
	// Email names the account that the app acts for. The default is the host's first account. If no account has this
	// email, the host creates one. An integrator's own account is the same on the platform API and on the app API.
	Email string
	// App is the name of the app that owns the key. Keys of the same account and app see the same transfers.
	App string
	// Scopes are what the key may do. They are from [AppScopes]; nil means every scope.
	Scopes []string
	// SpendLimit is how much the key may spend in total, in USDC; nil means no limit.
	SpendLimit *decimal.Decimal
}

// AppKey is a registered app key.
type AppKey struct {
	ID      string
	Key     Secret // sent as Authorization: Bearer or X-Api-Key
	AppID   string
	AppName string
	Email   string // of the account
	Scopes  []string
	// SpendLimit is how much the key may spend in total, and RemainingSpendLimit what is left of it, in USDC; nil means
	// no limit.
	SpendLimit, RemainingSpendLimit *decimal.Decimal
	CreatedAt                       time.Time
}

// AppScopes returns the scopes of app keys: read, and profile:write, contacts:write, documents:write, banks:write,
// cards:write and transfers:write for the writes of each part of the app API. The service's description says that keys
// have scopes and does not name them, so the names are the host's own.
func AppScopes() []string { return session.AppScopes() }

// RegisterAppKey registers an app key. The error names the invalid fields.
func (h *Host) RegisterAppKey(registration AppKeyRegistration) (AppKey, error) {
	key, err := h.registerAppKey(session.AppRegistration(registration))
	if err != nil {
		return AppKey{}, err
	}
	return appKeyView(key), nil
}

func (h *Host) registerAppKey(registration session.AppRegistration) (session.AppKey, error) {
	if registration.Email == "" {
		registration.Email = h.seed.credentials.Email
	}
	key, err := h.appKeys.Register(h.appAccountOf(registration.Email), registration)
	if err == nil {
		h.tokens.AddOtherSurfaces(key.Secret)
	}
	return key, err
}

func (h *Host) appAccountOf(email string) session.AppAccount {
	id, canonical := h.registry.Account(email)
	return session.AppAccount{ID: id, Email: canonical}
}

// DeleteAppKey deletes an app key. Calls with it then fail with unauthenticated. For an unknown id, the error contains
// not_found.
func (h *Host) DeleteAppKey(id string) error { return h.appKeys.Delete(id) }

// AppKeys returns the app keys of every account, oldest first.
func (h *Host) AppKeys() []AppKey {
	keys := h.appKeys.List()
	views := make([]AppKey, len(keys))
	for i, key := range keys {
		views[i] = appKeyView(key)
	}
	return views
}

func appKeyView(key session.AppKey) AppKey {
	return AppKey{
		ID: key.ID, Key: newSecret(key.Secret), AppID: key.AppID, AppName: key.AppName, Email: key.Account.Email,
		Scopes: slices.Clone(key.Scopes), SpendLimit: key.SpendLimit, RemainingSpendLimit: key.Remaining(),
		CreatedAt: key.CreatedAt,
	}
}
