package sandbox

import (
	"slices"
	"time"

	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/credential"
)

// AppKeyRegistration asks for an app API key. How the service issues one is not
// shown; here it is asked for.
type AppKeyRegistration struct {
	// Email names the account that the app acts for: the host's first account when empty, and a new one when the host
	// does not know it. An integrator's own account is the same on the platform API and here.
	Email string
	// App is the name of the owning app. Keys of the same account and app share their transfers.
	App string
	// Scopes are what the key may do, of [AppScopes]; all of them when nil.
	Scopes []string
	// SpendLimit is what the key may spend in all, in USDC; without limit when nil.
	SpendLimit *decimal.Decimal
}

// AppKey is a registered app API key. Source: App API, Account and profile.
type AppKey struct {
	ID      string
	Key     Secret // what is sent, as Authorization: Bearer or as X-Api-Key
	AppID   string
	AppName string
	Email   string // of the account
	Scopes  []string
	// SpendLimit is what the key may spend in all, and RemainingSpendLimit what is left of it, in USDC; nil is without
	// limit.
	SpendLimit, RemainingSpendLimit *decimal.Decimal
	CreatedAt                       time.Time
}

// AppScopes answers the scopes of app keys: reads, and the writes of each part
// of the app API. The description says that keys have scopes and does not name
// them.
func AppScopes() []string { return credential.Scopes() }

// RegisterAppKey registers an app API key. The error says which fields make no
// sense.
func (h *Host) RegisterAppKey(registration AppKeyRegistration) (AppKey, error) {
	key, err := h.registerAppKey(credential.Registration(registration))
	if err != nil {
		return AppKey{}, err
	}
	return appKeyView(key), nil
}

func (h *Host) registerAppKey(registration credential.Registration) (credential.AppKey, error) {
	if registration.Email == "" {
		registration.Email = h.seed.credentials.Email
	}
	key, err := h.appKeys.Register(h.account(registration.Email), registration)
	if err == nil {
		h.tokens.AddForeign(key.Secret)
	}
	return key, err
}

func (h *Host) account(email string) credential.Account {
	id, canonical := h.registry.Account(email)
	return credential.Account{ID: id, Email: canonical}
}

// DeleteAppKey deletes an app API key: it is unauthenticated at once. An unknown
// id is refused with not_found.
func (h *Host) DeleteAppKey(id string) error { return h.appKeys.Delete(id) }

// AppKeys answers the app API keys of every account, oldest first.
func (h *Host) AppKeys() []AppKey {
	keys := h.appKeys.List()
	views := make([]AppKey, len(keys))
	for i, key := range keys {
		views[i] = appKeyView(key)
	}
	return views
}

func appKeyView(key credential.AppKey) AppKey {
	return AppKey{
		ID: key.ID, Key: newSecret(key.Secret), AppID: key.AppID, AppName: key.AppName, Email: key.Account.Email,
		Scopes: slices.Clone(key.Scopes), SpendLimit: key.SpendLimit, RemainingSpendLimit: key.Remaining(),
		CreatedAt: key.CreatedAt,
	}
}
